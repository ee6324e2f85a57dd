// A description on every property and every file of a schema. Assertions (rule/described) demand the others.
import { entries, follow, isObject, isText } from '../support.js';

const message = (what) => `Describe this ${what} for someone who has never seen the service.`;

export const described = () => ({
  SchemaProperties(properties, ctx) {
    for (const [name, property] of entries(properties)) {
      const location = ctx.location.child(name);
      const target = follow(property, location, ctx).node;
      if (!isObject(target) || isText(property.description) || isText(target.description)) continue;
      ctx.report({ message: message('property'), location: location.key() });
    }
  },
  // Each component file is also read on its own, so it needs a description.
  Schema(schema, ctx) {
    if (ctx.location.pointer !== '#/' || !isObject(schema) || isText(schema.description)) return;
    ctx.report({ message: message('schema'), location: ctx.location.key() });
  },
});
