// Adds lines to files of the contract. The parsed document tells where; the text is not written anew, so that comments and
// line breaks stay as they are.
import { isMap, isNode, isScalar, isSeq, parseDocument } from 'yaml';
import { sentence } from './names.ts';

/** Without the `{}` or `[]` of an empty map or list, below which no entry may follow. */
function opened(text: string, path: readonly string[]): string {
  const node = parseDocument(text).getIn(path, true);
  const isEmpty = (isMap(node) || isSeq(node)) && node.flow && node.items.length === 0;
  if (!isEmpty || !node.range) return text;
  return text.slice(0, node.range[0]).trimEnd() + text.slice(node.range[1]);
}

function endOf(text: string, path: readonly string[]): number {
  const node = parseDocument(text).getIn(path, true);
  // Nothing behind the key: an empty map or list, too.
  if (isScalar(node) && node.value === null && node.range) return text.indexOf('\n', node.range[0]) + 1;
  if (!isNode(node) || !node.range || !(isMap(node) || isSeq(node)))
    throw new Error(`${path.join('.')} is not a map or a list.`);
  const last: unknown = node.items.at(-1);
  const value = isNode(last) ? last : (last as { value?: unknown } | undefined)?.value;
  const end = isNode(value) && value.range ? value.range[1] : node.range[1];
  // A comment behind the last value belongs to its line.
  const lineEnd = text.indexOf('\n', Math.max(0, end - 1));
  return lineEnd === -1 ? text.length : lineEnd + 1;
}

const withLastBreak = (text: string) => (text.endsWith('\n') ? text : `${text}\n`);

/** After the last entry of the map or list at `path`. `lines` have their indentation and end with a line break. */
export const append =
  (path: readonly string[], lines: string) =>
  (text: string): string => {
    const whole = opened(withLastBreak(text), path);
    const at = endOf(whole, path);
    return whole.slice(0, at) + lines + whole.slice(at);
  };

/** The same for a name in a list, which may be written in brackets. */
export const appendName =
  (path: readonly string[], name: string) =>
  (text: string): string => {
    const list = parseDocument(text).getIn(path, true);
    const last: unknown = isSeq(list) && list.flow ? list.items.at(-1) : undefined;
    if (!isScalar(last) || !last.range) return append(path, `  - ${name}\n`)(text);
    return `${text.slice(0, last.range[1])}, ${name}${text.slice(last.range[1])}`;
  };

const columnOf = (text: string, offset: number) => offset - (text.lastIndexOf('\n', offset - 1) + 1);

/** A field of the map at `path`, which may be written in braces. */
export const appendField =
  (path: readonly string[], field: string) =>
  (text: string): string => {
    const map = parseDocument(text).getIn(path, true);
    const [first, last] = isMap(map) ? [map.items[0]?.key, map.items.at(-1)] : [];
    if (!isMap(map) || !isNode(first) || !first.range) throw new Error(`${path.join('.')} is not a map.`);
    if (!map.flow) return append(path, `${' '.repeat(columnOf(text, first.range[0]))}${field}\n`)(text);
    const end = (isNode(last?.value) ? last.value : first).range?.[1] ?? 0;
    return `${text.slice(0, end)}, ${field}${text.slice(end)}`;
  };

/** What is written at `path`, without its indentation. */
export function blockAt(text: string, path: readonly string[]): string {
  const node = parseDocument(text).getIn(path, true);
  if (!isNode(node) || !node.range) throw new Error(`There is nothing at ${path.join('.')}.`);
  const [start, end] = node.range;
  const indentation = new RegExp(`^ {${columnOf(text, start)}}`, 'gm');
  return `${text.slice(start, end).trimEnd().replaceAll(indentation, '')}\n`;
}

/** Before the first entry of the file's map that has one of these keys, or after its last entry. */
export const insertBefore =
  (keys: readonly string[], lines: string) =>
  (given: string): string => {
    const text = withLastBreak(given);
    const map = parseDocument(text).contents;
    const found = (isMap(map) ? map.items : [])
      .map(({ key }) => key)
      .find((key) => isScalar(key) && keys.includes(String(key.value)));
    if (!isScalar(found)) return append([], lines)(text);
    const at = text.lastIndexOf('\n', found.range[0] - 1) + 1;
    return text.slice(0, at) + lines + text.slice(at);
  };

/** `npm run lint` lists these comments, and no contract with one is released. */
export const todo = (what: string) => ` # TODO: ${what}`;

/** An entry of the tags in openapi.yaml, for operations and events with `many` of a resource. */
export const newTag = (tag: string, many: string) =>
  append(
    ['tags'],
    indent(`- name: ${tag}\n  description: ${sentence(many)}.${todo('say what they are for')}\n`, 2),
  );

export const inTurn =
  (...edits: ((text: string) => string)[]) =>
  (text: string): string =>
    edits.reduce((changed, edit) => edit(changed), text);

export const indent = (text: string, spaces: number): string => text.replace(/^(?=.)/gm, ' '.repeat(spaces));
