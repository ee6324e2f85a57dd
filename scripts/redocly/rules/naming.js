// Names: verbs of operations, snake_case of properties and parameters.
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
      const words = verbsOf(ctx.key);
      if (!words) {
        ctx.report({
          message: `This house has no ${ctx.key} operations. Use ${Object.keys(verbs).join(', ')}.`,
          location: ctx.location.key(),
        });
      } else if (!new RegExp(`^(${words.join('|')})([A-Z][a-z0-9]*)+$`).test(operation.operationId)) {
        ctx.report({
          message: `operationId "${operation.operationId}" must be camelCase and begin with ${words.join(' or ')}, such as "${words[0]}PaymentMethod${words[0] === 'list' ? 's' : ''}".`,
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
