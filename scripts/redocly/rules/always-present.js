// Answers and events always have all their fields, so that clients need not tell an absent value from null.
import {
  bodiesOf,
  eachOperation,
  entries,
  follow,
  isObject,
  list,
  responsesOf,
  schemaNameAt,
  schemasIn,
} from '../support.js';

/** `except` has the reason of each: `{ ApiKeyPair.private_key: only in the answer that … }`. */
export const alwaysPresent = ({ except = {} }) => {
  const seen = new Set();
  const validate = (holder, ctx) => {
    for (const [root, place] of bodiesOf(holder)) {
      for (const [schema, at] of schemasIn(root, place, ctx, seen)) {
        const properties = entries(schema.properties).map(([name]) => name);
        const required = list(schema.required);
        // Without a type it is a part of another schema, such as a `then`. A name in `required` that is no property is
        // mistyped, and reported by closed-object.
        const isObjectType = [schema.type].flat().includes('object');
        if (!isObjectType || required.some((name) => !properties.includes(name))) continue;
        const owner = schemaNameAt(at);
        for (const name of properties) {
          if (required.includes(name) || `${owner}.${name}` in except) continue;
          ctx.report({
            message: `A response always has every field. Add \`${name}\` to \`required\`, and allow null if it may have no value: type: [string, 'null']. If it must be absent at times, list ${owner}.${name} with the reason in redocly.yaml, below house/always-present.`,
            location: at.child(['properties', name]).key(),
          });
        }
      }
    }
  };
  return {
    ...eachOperation((operation, ctx) => {
      for (const response of responsesOf(operation, ctx)) validate(response, ctx);
    }),
    // The body of an event is what we send.
    WebhooksMap: {
      PathItem: {
        Operation(operation, ctx) {
          const body = follow(operation.requestBody, ctx.location.child('requestBody'), ctx);
          if (isObject(body.node)) validate(body, ctx);
        },
      },
    },
  };
};
