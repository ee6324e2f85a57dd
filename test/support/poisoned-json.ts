/** Poisons the cache of JSON.parse, then prints escaped keys as one of the readers reads them. */
import { parseJson, parseStrictJson } from '../../client/json.ts';

const readers: Record<string, (text: string) => unknown> = { parseJson, parseStrictJson, none: JSON.parse };
const read = readers[process.argv[2] ?? ''] ?? JSON.parse;

const poison = [String.raw`{"":1,"\\":1}`, String.raw`{"":1,"a\\":1}`];
for (const text of poison) JSON.parse(text);
const keys = ['\\n', '\\"', '\\u0041', '\\\\', '\\t', 'a\\n'].map(
  (key) => Object.keys(read(`{"":1,"${key}":1}`) as object)[1],
);
console.log(JSON.stringify(keys));
