// Reads JSON text from outside and from the database. `JSON.parse` checks the syntax and makes the value, but it has two gaps:
// it keeps the last of two equal keys without an error, and on Node 24 and 26 it can read an escaped key as another one
// (nodejs/node#63785). See docs/decisions/0012-json.md. The client uses this too, so it has no imports.

/** The text is valid JSON, and still means different things to different readers (RFC 7493). */
export class AmbiguousJson extends SyntaxError {
  override readonly name = 'AmbiguousJson';
  readonly fault: 'duplicate key' | 'lone surrogate';
  /** A JSON pointer to the duplicate key, or to the text with the surrogate. */
  readonly pointer: string;

  constructor({ fault, pointer }: Fault) {
    super(`The JSON has a ${fault}.`);
    this.fault = fault;
    this.pointer = pointer;
  }
}

interface Fault {
  fault: AmbiguousJson['fault'];
  pointer: string;
}

/** `JSON.parse` without its fault on Node 24 and 26. For text that we wrote ourselves. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return text.includes('\\') && scan(text).hasEscapedKey ? build(text) : value;
}

/** Also refuses duplicate keys, at any depth, and lone surrogates. For text from outside. */
export function parseStrictJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const { hasEscapedKey, fault } = scan(text);
  if (fault) throw new AmbiguousJson(fault);
  return hasEscapedKey ? build(text) : value;
}

const quote = 0x22;
const comma = 0x2c;
const openArray = 0x5b;
const backslash = 0x5c;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** An object or array that is not closed yet. */
interface Open {
  /** The keys so far; undefined in an array. */
  keys: Set<string> | undefined;
  key: string;
  index: number;
}

// Both loops below rely on `JSON.parse` for the syntax: they only see valid JSON. Neither calls itself, because 100 kB of
// brackets would overflow the stack.

function scan(text: string): { hasEscapedKey: boolean; fault: Fault | undefined } {
  const hasSurrogates = surrogate.test(text);
  const outer: Open[] = [];
  let open: Open | undefined;
  let expectsKey = false;
  let hasEscapedKey = false;
  const faulty = (fault: Fault['fault']) => {
    const path = open ? [...outer, open] : outer;
    // Without lone surrogates, because the pointer is sent back in an answer that must itself be valid text.
    const pointer = path
      .map(({ keys, key, index }) => `/${keys ? escape(key) : index}`)
      .join('')
      .replace(/\p{Surrogate}/gu, '\ufffd');
    return { hasEscapedKey, fault: { fault, pointer } };
  };
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const raw = stringAt(text, at);
      at += raw.length - 1;
      if (expectsKey && open?.keys) {
        const isEscaped = raw.includes('\\');
        open.key = isEscaped ? unescape(raw) : raw.slice(1, -1);
        hasEscapedKey ||= isEscaped;
        expectsKey = false;
        const { size } = open.keys;
        if (open.keys.add(open.key).size === size) return faulty('duplicate key');
      }
      if (hasSurrogates && surrogate.test(raw) && /\p{Surrogate}/u.test(unescape(raw)))
        return faulty('lone surrogate');
    } else if (code === comma) {
      if (open?.keys) expectsKey = true;
      else if (open) open.index += 1;
    } else if (code === openObject || code === openArray) {
      if (open) outer.push(open);
      expectsKey = code === openObject;
      open = { keys: expectsKey ? new Set() : undefined, key: '', index: 0 };
    } else if (code === closeObject || code === closeArray) {
      open = outer.pop();
      expectsKey = false;
    }
  }
  return { hasEscapedKey, fault: undefined };
}

const surrogate = /\\u[dD][89a-fA-F]/;

/** The string that starts here, with its quotes. A quote does not end it after an odd number of backslashes. */
function stringAt(text: string, start: number): string {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text.charCodeAt(before - 1) === backslash) before -= 1;
    if ((end - before) % 2 === 0) return text.slice(start, end + 1);
  }
}

// A string alone has no keys, so `JSON.parse` reads it correctly.
const unescape = (raw: string) => JSON.parse(raw) as string;

const escape = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');

type Container = unknown[] | Record<string, unknown>;

function build(text: string): unknown {
  const outer: (Container | undefined)[] = [];
  let container: Container | undefined;
  /** Undefined where a key is expected, and in arrays. */
  let key: string | undefined;
  let root: unknown;
  const add = (value: unknown) => {
    if (container === undefined) root = value;
    else if (Array.isArray(container)) container.push(value);
    else if (key !== undefined) setOwn(container, key, value);
    key = undefined;
  };
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const raw = stringAt(text, at);
      at += raw.length - 1;
      const value = raw.includes('\\') ? unescape(raw) : raw.slice(1, -1);
      if (container && !Array.isArray(container) && key === undefined) key = value;
      else add(value);
    } else if (code === openObject || code === openArray) {
      const opened: Container = code === openObject ? {} : [];
      add(opened);
      outer.push(container);
      container = opened;
    } else if (code === closeObject || code === closeArray) container = outer.pop();
    else {
      literal.lastIndex = at;
      const found = literal.exec(text)?.[0];
      // What is left are colons, commas and white space.
      if (found === undefined) continue;
      add(JSON.parse(found));
      at += found.length - 1;
    }
  }
  return root;
}

const literal = /true|false|null|[-\d][-+.\deE]*/y;

/** Assigning to `__proto__` would change the prototype. */
function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, configurable: true, enumerable: true, writable: true });
}
