// What is written to the folder of the site. Files under assets/ have the digest of their content in their names, so that
// browsers may keep them for ever. Each text is also written compressed, so that no server has to do that for each reader.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

export interface Site {
  /** `site.css` becomes `assets/site.<digest>.css`, which is returned. */
  asset: (name: string, content: string | Buffer) => string;
  page: (path: string, content: string | Buffer) => void;
  /** Replaces what is in the folder. Compression takes half of the time; the server sends files as they are without it. */
  write: (folder: string, options?: { compress?: boolean }) => void;
  bytes: () => number;
}

export function createSite(): Site {
  const files = new Map<string, Buffer>();
  return {
    asset(name, content) {
      const digest = createHash('sha256').update(content).digest('hex').slice(0, 12);
      const ending = extname(name);
      const path = `assets/${name.slice(0, -ending.length)}.${digest}${ending}`;
      files.set(path, Buffer.from(content));
      return path;
    },
    page(path, content) {
      files.set(path, Buffer.from(content));
    },
    write(folder, { compress = true } = {}) {
      const written = new Set<string>();
      for (const [path, content] of files) {
        const file = join(folder, path);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, content);
        if (compress && !path.endsWith('.tgz')) {
          writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
          writeFileSync(`${file}.br`, brotli(content));
        } else {
          // Those of the build before would be served instead.
          for (const ending of ['.gz', '.br']) rmSync(`${file}${ending}`, { force: true });
        }
        for (const ending of ['', '.gz', '.br']) written.add(`${file}${ending}`);
      }
      // Last, because the site may be served meanwhile.
      for (const part of ['assets', 'guides'])
        for (const name of filesIn(join(folder, part))) if (!written.has(name)) rmSync(name);
    },
    bytes: () => [...files.values()].reduce((sum, { length }) => sum + length, 0),
  };
}

const filesIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true, recursive: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name))
    : [];

// Quality 11 would make Redoc's script a tenth smaller, and the first start six seconds longer.
const brotli = (content: Buffer) =>
  brotliCompressSync(content, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 9,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    },
  });
