// Every input has limits, so that no request can be unreasonably expensive to process.
import { bodiesOf, eachOperation, follow, isObject, parametersOf, schemasIn } from '../support.js';

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
    for (const holder of holders) {
      const { node, location } = holder;
      for (const [root, place] of [[node.schema, location.child('schema')], ...bodiesOf(holder)]) {
        for (const [schema, at] of schemasIn(root, place, ctx, seen)) {
          for (const what of missing(schema)) {
            ctx.report({ message: `Every input needs limits: give ${what}.`, location: at.key() });
          }
        }
      }
    }
  });
};
