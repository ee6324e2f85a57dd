// Names whose faults are said with the right name, or with who else has it.
import { entries, isSnakeCase, isText } from '../support.js';

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
    Parameter({ name, in: place }, ctx) {
      if (isText(name) && place !== 'header') check(name, ctx.location.child('name'), ctx);
    },
  };
};

export const operationIdUnique = () => {
  const owners = new Map();
  return {
    Operation({ operationId }, ctx) {
      if (!isText(operationId)) return;
      const location = ctx.location.child('operationId');
      const owner = owners.get(operationId);
      if (owner === undefined) owners.set(operationId, location);
      else
        ctx.report({
          message: `\`${operationId}\` is taken. Give this one a name of its own.`,
          location: [location, owner],
        });
    },
  };
};
