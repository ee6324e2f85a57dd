// What is written to the folder of the site. Files under assets/ have the digest of their content in their names, so that
// browsers may keep them for ever. Each text is also written compressed, so that no server has to do that for each reader.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

export function createSite() {
  const files = new Map<string, Buffer>();
  return {
    /** `site.css` becomes `assets/site.<digest>.css`, which is returned. */
    asset: (name: string, content: string | Buffer): string => {
      const digest = createHash('sha256').update(content).digest('hex').slice(0, 12);
      const ending = extname(name);
      const path = `assets/${name.slice(0, -ending.length)}.${digest}${ending}`;
      files.set(path, Buffer.from(content));
      return path;
    },
    page(path: string, content: string | Buffer) {
      files.set(path, Buffer.from(content));
    },
    write(folder: string) {
      for (const [path, content] of files) {
        const file = join(folder, path);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, content);
        if (path.endsWith('.tgz')) continue;
        writeFileSync(`${file}.gz`, gzipSync(content));
        writeFileSync(`${file}.br`, brotliCompressSync(content, { params: quality }));
      }
    },
    /** Removes what an earlier build has left. Last, because the site may be served meanwhile. */
    prune(folder: string) {
      for (const part of new Set([...files.keys()].map(dirname).filter((one) => one !== '.')))
        for (const name of readdirSync(join(folder, part)))
          if (!files.has(`${part}/${name.replace(/\.(gz|br)$/, '')}`)) rmSync(join(folder, part, name));
    },
  };
}

// 9 would make Redoc's script 3% smaller, and the build a second longer.
const quality = { [constants.BROTLI_PARAM_QUALITY]: 5 };
