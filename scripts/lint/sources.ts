// The YAML files of a contract, each read and parsed once per lint.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isNode, LineCounter, parseDocument, type Document } from 'yaml';
import { filesIn } from '../support/files.ts';

export interface Source {
  text: string;
  document: Document.Parsed;
  lines: LineCounter;
}

/** By their names within the project, with slashes. */
export type Sources = ReadonlyMap<string, Source>;

export function readSources(project: string): Sources {
  const files = filesIn(project, 'openapi').filter((file) => file.endsWith('.yaml'));
  return new Map(files.map((file) => [file, readSource(join(project, file))]));
}

export function readSource(file: string): Source {
  const text = readFileSync(file, 'utf8');
  const known = parsed.get(file);
  if (known?.text === text) return known;
  const source = sourceOf(text);
  parsed.set(file, source);
  return source;
}

export function sourceOf(text: string): Source {
  const lines = new LineCounter();
  return { text, document: parseDocument(text, { lineCounter: lines, prettyErrors: false }), lines };
}

/** `npm run dev` lints after every save, of which most change one file of two hundred. */
const parsed = new Map<string, Source>();

/** Of the key if there is one, because that is where people look. */
export function positionOf(
  sources: Sources,
  file: string,
  path: string[],
): { line: number; column: number } | undefined {
  const source = sources.get(file);
  const offset = source && offsetOf(source, path);
  if (!source || offset === undefined) return undefined;
  const { line, col } = source.lines.linePos(offset);
  return { line, column: col };
}

function offsetOf({ document }: Source, path: string[]): number | undefined {
  const parent = document.getIn(path.slice(0, -1), true);
  const pair = isMap(parent) ? parent.items.find(({ key }) => String(key) === path.at(-1)) : undefined;
  if (isNode(pair?.key)) return pair.key.range?.[0];
  const node = document.getIn(path, true);
  return isNode(node) ? node.range?.[0] : undefined;
}
