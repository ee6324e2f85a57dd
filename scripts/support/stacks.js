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

/** @param {NodeJS.CallSite} frame */
function describe(frame) {
  const text = String(frame);
  const [, url, line, column] = /(file:[^()]+):(\d+):(\d+)/.exec(text) ?? [];
  const origin = url === undefined ? undefined : mapOf(url)?.findOrigin(Number(line), Number(column));
  if (url === undefined || !origin || !('fileName' in origin)) return text;
  const file = fileURLToPath(new URL(origin.fileName, url));
  return text.replace(`${url}:${line}:${column}`, `${file}:${origin.lineNumber}:${origin.columnNumber}`);
}

export function mapStacks() {
  Error.prepareStackTrace = (error, frames) =>
    [Error.prototype.toString.call(error), ...frames.map((frame) => `    at ${describe(frame)}`)].join('\n');
}
