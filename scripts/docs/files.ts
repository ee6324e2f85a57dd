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
  /** Replaces what is in the folder. */
  write: (folder: string) => void;
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
    write(folder) {
      const written = new Set<string>();
      const used = new Map<string, Compressed>();
      for (const [path, content] of files) {
        const file = join(folder, path);
        mkdirSync(dirname(file), { recursive: true });
        const digest = createHash('sha256').update(content).digest('hex');
        const compressed = known.get(digest) ?? compress(content);
        used.set(digest, compressed);
        for (const [name, bytes] of [
          [file, content],
          [`${file}.gz`, compressed.gzip],
          [`${file}.br`, compressed.brotli],
        ] as const) {
          writeFileSync(name, bytes);
          written.add(name);
        }
      }
      known = used;
      // Last, because the site may be served meanwhile.
      for (const part of ['assets', 'guides'])
        for (const name of filesIn(join(folder, part))) if (!written.has(name)) rmSync(name);
    },
    bytes: () => [...files.values()].reduce((sum, { length }) => sum + length, 0),
  };
}

interface Compressed {
  gzip: Buffer;
  brotli: Buffer;
}

/** By digest, of the last site that was written: `npm run dev` builds after every save, and most files stay the same. */
let known = new Map<string, Compressed>();

const compress = (content: Buffer): Compressed => ({
  gzip: gzipSync(content, { level: 9 }),
  brotli: brotli(content),
});

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
