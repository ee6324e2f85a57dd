// Every input has limits, so that no request can be unreasonably expensive to process.
import { eachOperation, entries, follow, isObject, list, parametersOf } from '../support.js';

// Redocly's nested visitors stop at the first schema below a parameter or body, so this recurses itself.
function* schemasIn(value, location, ctx, seen) {
  const { node, location: place } = follow(value, location, ctx);
  if (!isObject(node) || seen.has(node)) return;
  seen.add(node);
  yield [node, place];
  for (const key of ['items', 'additionalProperties', 'propertyNames', 'contains', 'then', 'else']) {
    if (isObject(node[key])) yield* schemasIn(node[key], place.child(key), ctx, seen);
  }
  for (const key of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
    for (const [index, branch] of list(node[key]).entries()) {
      yield* schemasIn(branch, place.child([key, index]), ctx, seen);
    }
  }
  for (const [name, property] of entries(node.properties)) {
    yield* schemasIn(property, place.child(['properties', name]), ctx, seen);
  }
}

// Anchored at both ends, and without unlimited repetition.
const isBoundedPattern = (pattern = '') => /^\^.*\$$/.test(pattern) && !/[*+]|\{\d+,\}/.test(pattern);

function missing(schema) {
  const types = [schema.type ?? []].flat();
  const isFixed = schema.enum !== undefined || schema.const !== undefined;
  const isBounded = (keyword) => schema[keyword] !== undefined;
  const hasForm = ['uuid', 'date-time', 'date'].includes(schema.format) || isBoundedPattern(schema.pattern);
  const composed = ['anyOf', 'oneOf', 'allOf', '$ref'].some(isBounded);
  const numeric = types.find((type) => ['integer', 'number'].includes(type));
  return [
    types.length === 0 && !isFixed && !composed && 'this schema a type',
    types.includes('string') && !isFixed && !hasForm && !isBounded('maxLength') && 'this string a maxLength',
    types.includes('array') && !isBounded('maxItems') && 'this array maxItems',
    types.includes('object') &&
      isObject(schema.additionalProperties) &&
      !isBounded('maxProperties') &&
      'this map maxProperties',
    numeric &&
      !isFixed &&
      !(isBounded('minimum') && isBounded('maximum')) &&
      `this ${numeric} a minimum and a maximum`,
  ].filter(Boolean);
}

export const boundedInput = () => {
  const seen = new Set();
  return eachOperation((operation, ctx) => {
    const body = follow(operation.requestBody, ctx.location.child('requestBody'), ctx);
    const holders = [...parametersOf(operation, ctx), ...(isObject(body.node) ? [body] : [])];
    for (const { node, location } of holders) {
      const roots = [
        [node.schema, location.child('schema')],
        ...entries(node.content).map(([type, media]) => [
          media?.schema,
          location.child(['content', type, 'schema']),
        ]),
      ];
      for (const [root, place] of roots) {
        for (const [schema, at] of schemasIn(root, place, ctx, seen)) {
          for (const what of missing(schema)) {
            ctx.report({ message: `Every input needs limits: give ${what}.`, location: at.key() });
          }
        }
      }
    }
  });
};
