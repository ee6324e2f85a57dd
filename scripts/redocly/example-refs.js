// Redocly does not resolve references inside example values, so the same buyer would have to be pasted into twenty examples.
// This preprocessor inlines them before linting and bundling: `$ref: ./Other.yaml#/value`; properties beside the $ref
// override those of its target.
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { isObject } from './support.js';

/** The files that were inlined into some example; read by house/no-orphans. */
export const inlined = new Set();

export const exampleRefs = () => {
  const documents = new Map();
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
          const source = new Source(fault.file, readFileSync(fault.file, 'utf8'));
          ctx.report({ message: fault.message, location: { source, pointer: fault.pointer } });
        }
      },
    },
  };
};

class Fault extends Error {
  constructor(message, file, pointer) {
    super(message);
    this.file = file;
    this.pointer = pointer;
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
    throw new Fault(message, at.file, within('$ref').pointer);
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
    if (!existsSync(file)) refuse(`Can't resolve $ref ${$ref}: there is no such file.`);
    // The lint has looked for faults of YAML before.
    documents.set(file, parse(readFileSync(file, 'utf8')));
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
