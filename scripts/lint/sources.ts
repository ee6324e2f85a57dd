// The YAML files of a contract, each read and parsed once per lint.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { LineCounter, parseDocument, type Document } from 'yaml';

export interface Source {
  text: string;
  document: Document.Parsed;
  lines: LineCounter;
}

/** By their names within the project, with slashes. */
export type Sources = ReadonlyMap<string, Source>;

export function readSources(project: string): Sources {
  const entries = readdirSync(join(project, 'openapi'), { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.yaml'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
  return new Map(files.map((file) => [nameIn(project, file), read(file)]));
}

export const nameIn = (project: string, file: string) => relative(project, file).split(sep).join('/');

function read(file: string): Source {
  const text = readFileSync(file, 'utf8');
  const known = parsed.get(file);
  if (known?.text === text) return known;
  const lines = new LineCounter();
  const source = { text, document: parseDocument(text, { lineCounter: lines, prettyErrors: false }), lines };
  parsed.set(file, source);
  return source;
}

/** `npm run dev` lints after every save, of which most change one file of two hundred. */
const parsed = new Map<string, Source>();
