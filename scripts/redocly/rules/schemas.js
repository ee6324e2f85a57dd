// Schemas: valid patterns and formats, closed objects, a const `type` on resources.
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { follow, isObject, isSnakeCase, isText, list, schemaNameAt } from '../support.js';

/** Those that the service and the mock check; the lint adds which one was meant. */
const formats = Object.keys(fullFormats);

// Redocly checks the type of a keyword, but not whether its value makes sense.
export const validSchema = () => ({
  ref(node, ctx) {
    if (ctx.type.name !== 'Schema') return;
    const { $ref } = node;
    if (node.nullable !== undefined) {
      ctx.report({
        message: `OpenAPI 3.1 has no \`nullable\`. Write instead of both lines:\nanyOf:\n  - $ref: ${$ref}\n  - type: 'null'`,
        location: ctx.rawLocation.child('nullable').key(),
      });
    }
    if (typeof node.required === 'boolean') {
      ctx.report({
        message: '`required` is a list of names.',
        location: ctx.rawLocation.child('required').key(),
      });
    }
    // express-openapi-validator would accept what these keywords forbid.
    const ignored = Object.keys(node).find((key) => !['$ref', 'nullable', 'description'].includes(key));
    if (ignored === undefined || !/requestBody\/content\/[^/]+\/schema$/.test(ctx.rawLocation.pointer))
      return;
    ctx.report({
      message: `Next to the $ref of a body this is ignored. Move \`${ignored}\` into ${$ref}.`,
      location: ctx.rawLocation.child(ignored).key(),
    });
  },
  Schema(schema, ctx) {
    if (!isObject(schema)) return;
    try {
      new RegExp(schema.pattern, 'u');
    } catch (error) {
      ctx.report({
        message: `Fix the regular expression: ${error.message}. Validators compile it with the flag "u".`,
        location: ctx.location.child('pattern'),
      });
    }
    if (isText(schema.format) && !formats.includes(schema.format)) {
      ctx.report({
        message: `The format \`${schema.format}\` is not known here. Use one of: ${formats.join(', ')}.`,
        suggest: formats,
        location: ctx.location.child('format'),
      });
    }
  },
});

export const closedObject = () => ({
  Schema(schema, ctx) {
    // Under `not` and `if`, a schema is a condition and does not describe an object.
    if (!isObject(schema) || ['not', 'if'].includes(ctx.key)) return;
    if (![schema.type].flat().includes('object') && schema.properties === undefined) return;
    const properties = isObject(schema.properties) ? schema.properties : {};
    for (const [index, name] of list(schema.required).entries()) {
      if (Object.hasOwn(properties, name)) continue;
      ctx.report({
        message: `Define the required property "${name}", or do not require it.`,
        suggest: Object.keys(properties).filter((one) => isSnakeCase(one) && !schema.required.includes(one)),
        location: ctx.location.child(['required', index]),
      });
    }
    const isMap = schema.properties === undefined && isObject(schema.additionalProperties);
    // `type: object` beside `oneOf` tells readers and tools what the alternatives are; each of them is closed itself.
    const isChoice = schema.properties === undefined && schema.oneOf !== undefined;
    if (schema.additionalProperties === false || isMap || isChoice) return;
    ctx.report({
      message:
        'Close this object with "additionalProperties: false"; for a map, put the schema of its values there instead.',
      // The line beside which it is to be written; the first line of a file may be its description.
      location: ctx.location.child(schema.type === undefined ? 'properties' : 'type').key(),
    });
  },
});

export const resourceType = ({ except = [] }) => ({
  Schema(schema, ctx) {
    if (!isObject(schema?.properties) || schema.properties.id === undefined) return;
    const name = schemaNameAt(ctx.location);
    if (except.includes(name)) return;
    const location = ctx.location.child(['properties', 'type']);
    const type = follow(schema.properties.type, location, ctx).node;
    const isKebab = isText(type?.const) && /^[a-z]+(-[a-z]+)*$/.test(type.const);
    if (isKebab && list(schema.required).includes('type')) return;
    ctx.report({
      message: `A resource has a required "type" with a kebab-case const, such as "const: payment-method". Add it to ${name}.`,
      location: ctx.location.child('properties').key(),
    });
  },
});
