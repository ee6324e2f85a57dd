// A description on everything that readers see. Replaces Redocly's own description rules, so that each fault is reported
// once.
import { entries, follow, isObject, isText } from '../support.js';

const message = (what) => `Describe this ${what} for someone who has never seen the service.`;

export const described = () => {
  const need = (what) => (node, ctx) => {
    if (!isObject(node) || isText(node.description)) return;
    ctx.report({ message: message(what), location: ctx.location.key() });
  };
  return {
    Tag: need('tag'),
    Server: need('server'),
    ServerVariable: need('server variable'),
    SecurityScheme: need('security scheme'),
    Operation: need('operation'),
    Parameter: need('parameter'),
    RequestBody: need('request body'),
    Response: need('response'),
    Header: need('header'),
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
      if (ctx.location.pointer === '#/') need('schema')(schema, ctx);
    },
  };
};
