// The mock serves the examples and readers copy them, so they are paired by scenario, and every error code has one.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { eachOperation, entries, follow, isObject, list, responsesOf } from '../support.js';

export const exampleStatus = () =>
  eachOperation((operation, ctx) => {
    for (const { status, node, location } of responsesOf(operation, ctx)) {
      for (const [name, example] of entries(node.content?.['application/json']?.examples)) {
        const shown = follow(example, location, ctx).node?.value?.status;
        // Only errors show their status as a number.
        if (typeof shown !== 'number' || !/^\d+$/.test(status) || String(shown) === status) continue;
        ctx.report({
          message: `This response is a ${status}, and the status of its example "${name}" is ${shown}: correct the example, or move it to a ${shown}.`,
          location: location.child(['content', 'application/json', 'examples', name]).key(),
        });
      }
    }
  });

const names = (holder) => entries(holder?.content?.['application/json']?.examples).map(([name]) => name);
const placeOf = (holder, location, name) =>
  names(holder).includes(name)
    ? location.child(['content', 'application/json', 'examples', name]).key()
    : location;

// Readers and the mock find the response to a request by the name that both examples share.
export const pairedExamples = () =>
  eachOperation((operation, ctx) => {
    const request = follow(operation.requestBody, ctx.location.child('requestBody'), ctx);
    if (!isObject(request.node)) return;
    const requestNames = names(request.node);
    const responses = responsesOf(operation, ctx);
    // A request that leads to a 204 has no response example.
    const isEmpty = responses.some(({ status }) => status === '204');
    for (const name of requestNames) {
      const { length } = responses.filter(({ node }) => names(node).includes(name));
      if (length === 1 || (isEmpty && length === 0)) continue;
      ctx.report({
        message: `The request example "${name}" must have exactly one response example of the same name: add it to the response that it leads to.`,
        location: placeOf(request.node, request.location, name),
      });
    }
    for (const { node, location } of responses.filter(({ status }) => status.startsWith('2'))) {
      for (const name of names(node).filter((one) => !requestNames.includes(one))) {
        ctx.report({
          message: `The response example "${name}" has no request example of the same name: add the request that leads to it.`,
          location: placeOf(node, location, name),
        });
      }
    }
  });

// A code that no example has is neither in the docs nor in the mock. A file that nothing refers to is a matter of no-orphans.
export const errorCode = () => ({
  Schema(schema, ctx) {
    const file = ctx.location.source.absoluteRef;
    if (basename(file) !== 'ErrorCode.yaml') return;
    const folder = join(dirname(dirname(file)), 'examples');
    const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    for (const [index, code] of list(schema.enum).entries()) {
      if (texts.some((text) => text.includes(`code: ${code}\n`))) continue;
      ctx.report({
        message:
          'No example has this code: add components/examples/Error<Code>.yaml, and refer to it from a response.',
        location: ctx.location.child(['enum', index]),
      });
    }
  },
});
