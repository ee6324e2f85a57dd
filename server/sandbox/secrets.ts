// The sandbox makes its own secrets at the first start and keeps them in DATA_DIR, readable by its owner only. Production
// brings its own.
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Kept = Record<string, string>;

/** Those given win; the rest are read from DATA_DIR, and made there if they are missing. */
export function sandboxSecrets<Name extends string>(
  dataDir: string,
  names: readonly Name[],
  given: Readonly<Partial<Record<Name, Buffer | undefined>>>,
): Record<Name, Buffer> {
  const file = join(dataDir, 'secrets.json');
  mkdirSync(dataDir, { recursive: true });
  const kept = read(file) ?? make(file, {}, names);
  const complete = names.every((name) => kept[name] !== undefined) ? kept : make(file, kept, names);
  const entries = names.map(
    (name) => [name, given[name] ?? Buffer.from(complete[name] ?? '', 'base64')] as const,
  );
  return Object.fromEntries(entries) as Record<Name, Buffer>;
}

function read(file: string): Kept | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Kept;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

// Written whole beside the file and then linked to its name: two that start at once agree, and nobody reads half a file.
function make(file: string, kept: Kept, names: readonly string[]): Kept {
  const made = Object.fromEntries(
    names.map((name) => [name, kept[name] ?? randomBytes(32).toString('base64')]),
  );
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
  try {
    if (Object.keys(kept).length > 0) rmSync(file);
    linkSync(draft, file);
    return made;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return read(file) ?? made;
  } finally {
    rmSync(draft, { force: true });
  }
}
