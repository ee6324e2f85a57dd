// Redocly resolves references in a contract but not inside example values, which would force us to paste the same buyer
// into twenty examples. This inlines them before anything else looks: `$ref: ./Other.yaml#/value`, with properties beside
// the $ref laid over what it names.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';

export const exampleRefs = () => ({
  Example: {
    enter(node, ctx) {
      try {
        node.value = inline(node.value, ctx.location.source.absoluteRef, []);
      } catch (error) {
        ctx.report({ message: error.message, location: ctx.location.child('value') });
      }
    },
  },
});

function inline(value, file, trail) {
  if (Array.isArray(value)) return value.map((item) => inline(item, file, trail));
  if (value === null || typeof value !== 'object') return value;
  const { $ref, ...rest } = value;
  const own = Object.fromEntries(Object.entries(rest).map(([key, item]) => [key, inline(item, file, trail)]));
  if (typeof $ref !== 'string') return own;
  const [path, pointer = ''] = $ref.split('#');
  const target = path === '' ? file : resolve(dirname(file), path);
  const step = `${target}#${pointer}`;
  if (trail.includes(step)) throw new Error(`${$ref} refers to itself. Break the circle.`);
  return { ...inline(read(target, pointer, $ref), target, [...trail, step]), ...own };
}

function read(file, pointer, $ref) {
  let value;
  try {
    value = parse(readFileSync(file, 'utf8'));
  } catch {
    throw new Error(
      `Can't resolve $ref ${$ref} in an example. Name a file beside it, such as ./BuyerJaneDoe.yaml#/value.`,
    );
  }
  for (const part of pointer.split('/').slice(1)) {
    value = value?.[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  if (value === undefined)
    throw new Error(`Can't resolve $ref ${$ref} in an example: there is nothing at ${pointer}.`);
  return value;
}
