// Names: operation IDs begin with a verb; properties and parameters are snake_case.
import { entries, isSnakeCase, isText } from '../support.js';

const verbs = {
  get: ['list', 'get'],
  post: ['create', 'check'],
  put: ['update'],
  patch: ['update'],
  delete: ['delete'],
};

export const operationId = () => {
  const check = (verbsOf) => ({
    Operation(operation, ctx) {
      if (!isText(operation.operationId)) return;
      const allowed = verbsOf(ctx.key);
      if (!allowed) {
        ctx.report({
          message: `This API has no ${ctx.key} operations. Use ${Object.keys(verbs).join(', ')}.`,
          location: ctx.location.key(),
        });
      } else if (!new RegExp(`^(${allowed.join('|')})([A-Z][a-z0-9]*)+$`).test(operation.operationId)) {
        ctx.report({
          message: `operationId "${operation.operationId}" must be camelCase and begin with ${allowed.join(' or ')}, such as "${allowed[0]}PaymentMethod${allowed[0] === 'list' ? 's' : ''}".`,
          location: ctx.location.child('operationId'),
        });
      }
    },
  });
  return { Paths: check((method) => verbs[method]), WebhooksMap: check(() => ['on']) };
};

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
