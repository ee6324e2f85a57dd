// Schemas: valid patterns and formats, closed objects, a const `type` on resources.
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { follow, isObject, isSnakeCase, isText, list, schemaNameAt } from '../support.js';

/** Those that the service and the mock check; the lint adds which one was meant. */
const formats = Object.keys(fullFormats);

const limits = ['imum', 'Length', 'Items', 'Properties'].map((what) => [`min${what}`, `max${what}`]);
const ajv = new Ajv2020({ strict: false, validateFormats: false });

/** Of a schema that nothing, or not its own default, can match: the keyword and what to do. */
function* contradictions(schema) {
  for (const [least, most] of limits)
    if (schema[least] > schema[most])
      yield [
        least,
        `Nothing can be at least ${schema[least]} and at most ${schema[most]}: correct \`${least}\` or \`${most}\`.`,
      ];
  if (Array.isArray(schema.enum) && schema.enum.length === 0)
    yield ['enum', 'This list is empty, so no value is allowed. Write the allowed values.'];
  const twice = list(schema.required).find((name, index, names) => names.indexOf(name) !== index);
  if (twice !== undefined) yield ['required', `\`${twice}\` is listed twice. Remove one.`];
  if ([schema.type].flat().includes('array') && !isObject(schema.items) && schema.prefixItems === undefined)
    yield ['type', 'Say what this array holds: add `items`.'];
  const { default: value, type, enum: values, minimum, maximum, minLength, maxLength } = schema;
  const own = JSON.parse(JSON.stringify({ type, enum: values, minimum, maximum, minLength, maxLength }));
  if (value !== undefined && ajv.validateSchema(own) && !ajv.validate(own, value))
    yield ['default', `The default does not match its schema: it ${ajv.errors[0].message}.`];
}

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
    for (const [keyword, message] of contradictions(schema))
      ctx.report({ message, location: ctx.location.child(keyword).key() });
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
