// Names: verbs of operations, snake_case of properties and parameters, one component per file under its own name.
import { basename, dirname } from 'node:path';

const verbs = {
  get: ['list', 'get'],
  post: ['create', 'check'],
  put: ['update'],
  patch: ['update'],
  delete: ['delete'],
};

export const operationId = () => {
  const check = (allowed) => ({
    Operation(operation, ctx) {
      const words = allowed(ctx.key);
      if (new RegExp(`^(${words.join('|')})([A-Z][a-z0-9]*)+$`).test(operation.operationId ?? '')) return;
      ctx.report({
        message: `operationId "${operation.operationId}" must be camelCase and begin with ${words.join(' or ')}, such as "${words[0]}PaymentMethod${words[0] === 'list' ? 's' : ''}".`,
        location: ctx.location.child('operationId'),
      });
    },
  });
  return { Paths: check((method) => verbs[method] ?? ['run']), WebhooksMap: check(() => ['on']) };
};

export const snakeCase = () => {
  const report = (name, location, ctx) => {
    if (/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name)) return;
    const better = name
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .replace(/[^A-Za-z0-9]+/g, '_')
      .toLowerCase();
    ctx.report({ message: `"${name}" must be snake_case: rename it to "${better}".`, location });
  };
  return {
    SchemaProperties(properties, ctx) {
      for (const name of Object.keys(properties)) report(name, ctx.location.child(name).key(), ctx);
    },
    Parameter(parameter, ctx) {
      if (parameter.in !== 'header') report(parameter.name, ctx.location.child('name'), ctx);
    },
  };
};

// A component's name in the bundle is its file's name, so this keeps both right, and refs short.
export const componentName = () => ({
  any: {
    enter(_node, { rawNode, rawLocation, report }) {
      const ref = rawNode?.$ref;
      if (typeof ref !== 'string' || !ref.endsWith('.yaml') || /(^|\/)(paths|webhooks)\//.test(ref)) return;
      const name = basename(ref, '.yaml');
      const folder = dirname(ref);
      if (!/^([A-Z][a-z0-9]*)+$/.test(name)) {
        report({
          message: `Component file "${name}.yaml" must be PascalCase, such as "PaymentMethod.yaml".`,
          location: rawLocation.child('$ref'),
        });
      }
      if (
        folder !== '.' &&
        !/(^|\/)(schemas|parameters|headers|responses|examples|securitySchemes)$/.test(folder)
      ) {
        report({
          message: `Move "${ref}" into components/<kind>/, one component per file.`,
          location: rawLocation.child('$ref'),
        });
      }
    },
  },
});
