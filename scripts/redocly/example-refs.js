// Redocly does not resolve references inside example values, so the same buyer would have to be pasted into twenty examples.
// This preprocessor inlines them before linting and bundling: `$ref: ./Other.yaml#/value`; properties beside the $ref
// override those of its target.
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { isObject, once } from './support.js';

/** The files that were inlined into some example; read by house/no-orphans. */
export const inlined = new Set();

export const exampleRefs = () => {
  const documents = new Map();
  const report = once();
  // A process may lint several times.
  inlined.clear();
  return {
    Example: {
      enter(example, ctx) {
        if (!isObject(example) || !('value' in example)) return;
        const file = ctx.location.source.absoluteRef;
        const { pointer } = ctx.location.child('value');
        try {
          example.value = inline(example.value, { file, pointer, trail: [`${file}${pointer}`] }, documents);
        } catch (fault) {
          if (!(fault instanceof Fault)) throw fault;
          // Remove the value: an unresolved $ref in it would cause many more schema errors.
          example.value = undefined;
          const Source = ctx.location.source.constructor;
          report(ctx, fault.message, { source: new Source(fault.file, fault.text), ...fault.where });
        }
      },
    },
  };
};

class Fault extends Error {
  constructor(message, file, where) {
    super(message);
    this.file = file;
    this.where = where;
    this.text = readFileSync(file, 'utf8');
  }
}

function inline(value, at, documents) {
  const within = (key) => ({
    ...at,
    pointer: `${at.pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`,
  });
  if (Array.isArray(value)) return value.map((item, index) => inline(item, within(index), documents));
  if (!isObject(value)) return value;
  const { $ref, ...beside } = value;
  const own = Object.fromEntries(
    Object.entries(beside).map(([key, item]) => [key, inline(item, within(key), documents)]),
  );
  if ($ref === undefined) return own;
  const refuse = (message) => {
    throw new Fault(message, at.file, { pointer: within('$ref').pointer });
  };
  if (typeof $ref !== 'string') refuse('A $ref must be a string, such as ./BuyerJaneDoe.yaml#/value.');
  const [path, pointer = ''] = $ref.split('#');
  const file = path === '' ? at.file : resolve(dirname(at.file), path);
  const step = `${file}#${pointer}`;
  if (at.trail.includes(step)) {
    const cycle = [...at.trail.slice(at.trail.indexOf(step)), step].map((name) =>
      basename(name.split('#')[0]),
    );
    refuse(
      `This example contains itself (${cycle.join(' → ')}). Replace one of these references by its value.`,
    );
  }
  const found = read(file, pointer, documents, $ref, refuse);
  const target = inline(found, { file, pointer: `#${pointer}`, trail: [...at.trail, step] }, documents);
  if (Object.keys(own).length === 0) return target;
  if (!isObject(target))
    refuse(`${$ref} is not an object, so it has no properties to override. Remove what is beside the $ref.`);
  return { ...target, ...own };
}

function read(file, pointer, documents, $ref, refuse) {
  if (!documents.has(file)) {
    let text;
    try {
      text = readFileSync(file, 'utf8');
    } catch {
      refuse(`Can't resolve $ref ${$ref}: there is no such file.`);
    }
    const document = parseDocument(text, { prettyErrors: true });
    const [error] = document.errors;
    if (error) {
      const { line, col } = error.linePos[0];
      const start = { line, col };
      throw new Fault(`This is not YAML: ${error.message.split('\n')[0]}`, file, {
        pointer: undefined,
        start,
      });
    }
    documents.set(file, document.toJS());
    inlined.add(file);
  }
  let value = documents.get(file);
  for (const part of pointer.split('/').slice(1)) {
    value = value?.[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  if (value === undefined) {
    refuse(
      `Can't resolve $ref ${$ref}: there is nothing at "${pointer}". The value of an example is at #/value.`,
    );
  }
  return value;
}
