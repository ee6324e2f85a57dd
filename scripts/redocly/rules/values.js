// Values: keywords that fit the type, names of enum values and events, whole amounts.
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { bodiesOf, entries, follow, isObject, list, schemasIn } from '../support.js';

const least = { string: 'minLength', number: 'minimum', array: 'minItems', object: 'minProperties' };
const most = { string: 'maxLength', number: 'maximum', array: 'maxItems', object: 'maxProperties' };
const others = {
  string: ['pattern'],
  number: ['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: [
    'items',
    'prefixItems',
    'contains',
    'minContains',
    'maxContains',
    'uniqueItems',
    'unevaluatedItems',
  ],
  object: [
    ...['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'],
    ...['unevaluatedProperties', 'dependentRequired', 'dependentSchemas'],
  ],
};
const kinds = Object.keys(others);

/** The kind of value that the keyword is for; undefined if it is for all. */
const kindOf = (keyword, value) =>
  keyword === 'format'
    ? value in fullFormats && (fullFormats[value].type === 'number' ? 'number' : 'string')
    : kinds.find((kind) => [least[kind], most[kind], ...others[kind]].includes(keyword));

const article = (word) => `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;

// Validators ignore a keyword for another type, so the limit that it seems to set does not exist.
export const keywordType = () => ({
  Schema(schema, ctx) {
    if (!isObject(schema)) return;
    const types = list([schema.type].flat()).filter((type) => type !== 'null' && type !== undefined);
    if (types.length === 0) return;
    const own = types.map((type) => (type === 'integer' ? 'number' : type));
    for (const [keyword, value] of Object.entries(schema)) {
      const kind = kindOf(keyword, value);
      if (!kind || own.includes(kind)) continue;
      const meant = [least, most].find((limits) => limits[kind] === keyword)?.[own[0]];
      ctx.report({
        message: `\`${keyword === 'format' ? `format: ${value}` : keyword}\` is for ${article(kind)}: on ${article(types[0])} it has no effect. ${meant ? `Write \`${meant}\`` : 'Remove it'}, or correct the type.`,
        location: ctx.location.child(keyword).key(),
      });
    }
  },
});

export const enumValue = ({ except = [] }) => ({
  Schema(schema, ctx) {
    for (const [index, value] of list(schema?.enum).entries()) {
      if (typeof value !== 'string' || !/[A-Z\s.]/.test(value) || except.includes(value)) continue;
      const snake = value
        .trim()
        .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
        .replaceAll(/[\s.-]+/g, '_');
      ctx.report({
        message: `Write this value in lower case, with underscores: \`${snake.toLowerCase()}\`. One that others prescribe is listed in redocly.yaml, below house/enum-value.`,
        location: ctx.location.child(['enum', index]),
      });
    }
  },
});

const isEventName = (name) => /^[a-z0-9-]+(\.[a-z0-9_-]+)+$/.test(name);

// An event with the name of another one, from which it was copied, would be refused before it is sent.
export const eventName = () => {
  let event;
  /** The name that a schema says, its place, and that of the event that refers to it. */
  const found = [];
  return {
    WebhooksMap: {
      leave(_map, ctx) {
        for (const { event, named, user, place } of found) {
          // An event with a wrong name has to be renamed before its schema.
          if (named === event || !isEventName(event)) continue;
          const isShared = found.some(
            (one) => one.event === named && one.place.absolutePointer === place.absolutePointer,
          );
          ctx.report(
            isShared
              ? {
                  message: `This is the schema of the event ${named}. Copy the file, write ${event} into the copy, and refer to that; the same for the example.`,
                  location: user,
                }
              : {
                  message: `This is the event ${event}: write that name here, in the description, and in the example.`,
                  location: place,
                },
          );
        }
      },
      PathItem: {
        enter(_item, ctx) {
          event = String(ctx.key);
        },
        Operation(operation, ctx) {
          const body = follow(operation.requestBody, ctx.location.child('requestBody'), ctx);
          for (const [schema, user] of isObject(body.node) ? bodiesOf(body) : []) {
            const { node, location } = follow(schema, user, ctx);
            const named = node?.properties?.name?.const;
            if (named === undefined) continue;
            found.push({ event, named, user, place: location.child(['properties', 'name', 'const']) });
          }
        },
      },
    },
  };
};

/** Judges the schemas of the fields and filters that have such a name. */
const byName = (names, isRight, message) => () => {
  const validate = (value, location, ctx) => {
    const [, place] = [...schemasIn(value, location, ctx, new Set())].find(([one]) => !isRight(one)) ?? [];
    if (place !== undefined) ctx.report({ message, location: place.child('type').key() });
  };
  return {
    SchemaProperties(properties, ctx) {
      for (const [name, property] of entries(properties))
        if (names.test(name)) validate(property, ctx.location.child(name), ctx);
    },
    Parameter(parameter, ctx) {
      if (names.test(String(parameter?.name))) validate(parameter.schema, ctx.location.child('schema'), ctx);
    },
  };
};

const hasTypes = ({ type }, types) =>
  [type].flat().every((one) => [undefined, 'null', ...types].includes(one));

// Fractions of a number are not exact in JSON. Which unit it is depends on the currency, so it is always the smallest one.
export const amount = byName(
  /(^|_)(amount|balance)(_(eq|gte?|lte?))?$/,
  (schema) => hasTypes(schema, ['integer']),
  'An amount is an integer in the smallest unit of its currency, such as cents. Write "$ref: ./Amount.yaml", or "type: integer".',
);

// Without the format, any text is accepted as a time, and the mock makes one up.
export const time = byName(
  /_at(_(eq|gte?|lte?))?$/,
  (schema) => hasTypes(schema, []) || (hasTypes(schema, ['string']) && schema.format === 'date-time'),
  'A time is a text with date and time zone. Write "$ref: ./Timestamp.yaml", or add "format: date-time" to "type: string".',
);
