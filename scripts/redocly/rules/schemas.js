// Schemas: closed objects, const types on resources, a description on everything that a reader sees, limits on input.
import { basename } from 'node:path';

const isObject = (schema) => [schema.type].flat().includes('object') || schema.properties !== undefined;

export const closedObject = () => ({
  Schema(schema, ctx) {
    if (!isObject(schema)) return;
    const unknown = (schema.required ?? []).filter((name) => !(name in (schema.properties ?? {})));
    for (const name of unknown) {
      ctx.report({
        message: `Define the required property "${name}", or do not require it.`,
        location: ctx.location.child('required'),
      });
    }
    if (schema.additionalProperties === false) return;
    const isMap = schema.properties === undefined && typeof schema.additionalProperties === 'object';
    if (isMap) return;
    ctx.report({
      message:
        'Close this object with "additionalProperties: false"; a map of values names their schema instead.',
      location: ctx.location.key(),
    });
  },
});

export const resourceType = ({ except = [] }) => ({
  Schema(schema, ctx) {
    if (schema.properties?.id === undefined) return;
    const name = basename(ctx.location.source.absoluteRef, '.yaml');
    if (except.includes(name)) return;
    const type = schema.properties.type ?? {};
    if (
      typeof type.const === 'string' &&
      /^[a-z]+(-[a-z]+)*$/.test(type.const) &&
      schema.required?.includes('type')
    )
      return;
    ctx.report({
      message: `A resource carries a required "type" with a kebab-case const, such as "const: payment-method". Add it to ${name}.`,
      location: ctx.location.child('properties'),
    });
  },
});

export const described = () => {
  const need = (what) => (node, ctx) => {
    const resolved = typeof node.description === 'string' && node.description.trim().length > 0;
    if (!resolved)
      ctx.report({
        message: `Describe this ${what} for someone who has never seen the service.`,
        location: ctx.location.key(),
      });
  };
  const words = need('property');
  return {
    Tag: need('tag'),
    Parameter: need('parameter'),
    Header: need('header'),
    Response: need('response'),
    RequestBody: need('request body'),
    SecurityScheme: need('security scheme'),
    ServerVariable: need('server variable'),
    Server: need('server'),
    Operation: need('operation'),
    SchemaProperties(properties, ctx) {
      for (const [name, property] of Object.entries(properties)) {
        const target = ctx.resolve(property).node ?? {};
        words(property.description ? property : target, {
          ...ctx,
          location: ctx.location.child(name),
          report: ctx.report,
        });
      }
    },
    // Component files are read on their own, so each says what it is.
    Schema(schema, ctx) {
      if (ctx.location.pointer === '#/') need('schema')(schema, ctx);
    },
  };
};

export const boundedInput = () => {
  const check = (schema, ctx) => {
    const types = [schema.type].flat();
    const fixed = schema.enum || schema.const !== undefined || ['uuid', 'date-time'].includes(schema.format);
    const pattern = /^\^.*\$$/.test(schema.pattern ?? '') && !/[*+]/.test(schema.pattern);
    if (types.includes('string') && !fixed && !pattern && schema.maxLength === undefined) {
      ctx.report({
        message: 'Every input is bounded: give this string a maxLength.',
        location: ctx.location.key(),
      });
    }
    if (types.includes('array') && schema.maxItems === undefined) {
      ctx.report({
        message: 'Every input is bounded: give this array maxItems.',
        location: ctx.location.key(),
      });
    }
    if (types.includes('integer') && (schema.minimum === undefined || schema.maximum === undefined)) {
      ctx.report({
        message: 'Every input is bounded: give this integer a minimum and a maximum.',
        location: ctx.location.key(),
      });
    }
  };
  return { Paths: { Operation: { Parameter: { Schema: check }, RequestBody: { Schema: check } } } };
};
