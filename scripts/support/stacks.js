// Stacks show the lines of the TypeScript that a bundle was made of. Node's own --enable-source-maps reads the maps of all files
// when they are loaded, which takes 50 ms for the server; this reads a map when a stack of its file is formatted.
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

/** @type {Map<string, SourceMap | undefined>} */
const maps = new Map();

/** @param {string} url */
function mapOf(url) {
  if (!maps.has(url)) maps.set(url, readMap(url));
  return maps.get(url);
}

/** @param {string} url */
function readMap(url) {
  try {
    return new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${url}.map`), 'utf8')));
  } catch {
    return undefined;
  }
}

/** Frames that were described before: a map takes 40 MB, so it is kept for one stack only. @type {Map<string, string>} */
const described = new Map();

/** @param {NodeJS.CallSite} frame */
function describe(frame) {
  const text = String(frame);
  const known = described.get(text) ?? translate(text);
  described.set(text, known);
  return known;
}

/** @param {string} text */
function translate(text) {
  const [, url, line, column] = /(file:[^()]+):(\d+):(\d+)/.exec(text) ?? [];
  if (url === undefined) return text;
  if (maps.size === 0) setImmediate(() => maps.clear());
  const origin = mapOf(url)?.findOrigin(Number(line), Number(column));
  if (!origin || !('fileName' in origin)) return text;
  const file = fileURLToPath(new URL(origin.fileName, url));
  return text.replace(`${url}:${line}:${column}`, `${file}:${origin.lineNumber}:${origin.columnNumber}`);
}

export function mapStacks() {
  Error.prepareStackTrace = (error, frames) =>
    [Error.prototype.toString.call(error), ...frames.map((frame) => `    at ${describe(frame)}`)].join('\n');
}
