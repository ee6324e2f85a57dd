// Names: operation IDs begin with a verb; properties and parameters are snake_case.
import { entries, isSnakeCase, isText } from '../support.js';

const verbs = {
  get: ['list', 'get'],
  post: ['create', 'check'],
  put: ['update'],
  patch: ['update'],
  delete: ['delete'],
};

/** Judged at the end: a name that two operations have belongs to the one that it fits, otherwise to the first. */
export const operationId = () => {
  const found = new Map();
  const collect = (verbsOf) => {
    let path;
    return {
      PathItem: {
        enter(_item, ctx) {
          path = String(ctx.key);
        },
        Operation({ operationId: id }, ctx) {
          if (!isText(id)) return;
          const allowed = verbsOf(ctx.key);
          const fault = faultOf(id, allowed, ctx.key);
          const location = allowed ? ctx.location.child('operationId') : ctx.location.key();
          const one = { name: `${ctx.key.toUpperCase()} ${path}`, fault, location };
          found.set(id, [...(found.get(id) ?? []), one]);
        },
      },
    };
  };
  return {
    Paths: collect((method) => verbs[method]),
    WebhooksMap: collect(() => ['on']),
    Root: {
      leave(_root, ctx) {
        for (const [id, all] of found) {
          const owner = all.find(({ fault }) => !fault) ?? all[0];
          if (owner.fault) ctx.report({ message: owner.fault, location: owner.location });
          for (const { location } of all.filter((one) => one !== owner)) {
            ctx.report({
              message: `\`${id}\` is already the operationId of ${owner.name}. Give this one a name of its own.`,
              location: [location, owner.location],
            });
          }
        }
      },
    },
  };
};

function faultOf(id, allowed, method) {
  if (!allowed) return `This API has no ${method} operations. Use ${Object.keys(verbs).join(', ')}.`;
  if (new RegExp(`^(${allowed.join('|')})([A-Z][a-z0-9]*)+$`).test(id)) return undefined;
  return `operationId "${id}" must be camelCase and begin with ${allowed.join(' or ')}, such as "${allowed[0]}PaymentMethod${allowed[0] === 'list' ? 's' : ''}".`;
}

export const snakeCase = () => {
  const check = (name, location, ctx) => {
    if (isSnakeCase(name)) return;
    const better = name
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .replace(/[^A-Za-z0-9]+/g, '_')
      .toLowerCase();
    ctx.report({ message: `"${name}" must be snake_case: rename it to "${better}".`, location });
  };
  return {
    SchemaProperties(properties, ctx) {
      for (const [name] of entries(properties)) check(name, ctx.location.child(name).key(), ctx);
    },
    Parameter(parameter, ctx) {
      if (isText(parameter.name) && parameter.in !== 'header') {
        check(parameter.name, ctx.location.child('name'), ctx);
      }
    },
  };
};
