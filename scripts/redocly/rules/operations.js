// What every operation must declare: its scope, its limits and dates, and the shape of lists.
import pluralize from 'pluralize';
import { eachOperation, entries, follow, isObject, isText, list, parametersOf } from '../support.js';

const scopeForm = /^([a-z0-9]+(-[a-z0-9]+)*\.(read|write)|embed)$/;
const scopesOf = (operation) =>
  list(operation.security).flatMap((one) => entries(one).flatMap(([, scopes]) => scopes));

export const operationScope = () => {
  let path;
  return {
    Paths: {
      PathItem: {
        enter(_item, ctx) {
          path = String(ctx.key);
        },
        Operation: (operation, ctx) => validateScopes(operation, ctx, path),
      },
    },
  };
};

function validateScopes(operation, ctx, path) {
  const [, resource] = path.split('/');
  const how = `such as "security: [{BearerAuth: [${resource}.${ctx.key === 'get' ? 'read' : 'write'}]}]".`;
  const alternatives = list(operation.security);
  if (alternatives.length === 0) {
    ctx.report({
      message: `Name the scope that ${operation.operationId} needs, ${how}`,
      location: operation.security === undefined ? ctx.location.key() : ctx.location.child('security'),
    });
  }
  alternatives.forEach((alternative, index) => {
    const location = ctx.location.child(['security', index]);
    const scopes = entries(alternative).flatMap(([, names]) => names);
    if (scopes.length !== 1 || !scopeForm.test(scopes[0])) {
      ctx.report({
        message: `Each entry of security names one scope "<resource>.read", "<resource>.write" or "embed", ${how}`,
        location,
      });
      return;
    }
    const [named, right] = scopes[0].split('.');
    // A path with a wrong name has to be renamed first.
    if (right === undefined || named === resource || !/^[a-z0-9-]+$/.test(resource)) return;
    ctx.report({
      message: `The scope \`${scopes[0]}\` does not belong to ${path}. Did you mean \`${resource}.${right}\`?`,
      location,
    });
  });
}

const isSingular = (segment) => !segment.startsWith('{') && pluralize.isSingular(segment);

// Collections are in the plural. In the singular, after an ID, a path names an action on that record: /bookings/{booking_id}/cancel.
export const pathWords = () => {
  let path = '';
  let action;
  return {
    Paths: {
      PathItem: {
        enter(_item, ctx) {
          path = String(ctx.key);
          const segments = path.split('/').slice(1);
          const isAction = isSingular(segments.at(-1)) && String(segments.at(-2)).startsWith('{');
          action = isAction ? segments.pop() : undefined;
          for (const segment of segments.filter(isSingular))
            ctx.report({
              message: `The path segment \`${segment}\` should be plural. Write it in the plural, here and in the name of its file.`,
              location: ctx.location.key(),
            });
        },
        Operation({ operationId }, ctx) {
          const verbs = action
            ? [action.replace(/-(\w)/g, (_, letter) => letter.toUpperCase())]
            : ['create', 'check'];
          if (action && ctx.key !== 'post')
            ctx.report({
              message: `\`${action}\`, in the singular after an ID, is an action on that record, which is a POST. Write a collection in the plural.`,
              location: ctx.location.key(),
            });
          else if (
            ctx.key === 'post' &&
            isText(operationId) &&
            !new RegExp(`^(${verbs.join('|')})([A-Z][a-z0-9]*)+$`).test(operationId)
          )
            ctx.report({
              message: `Write the operationId of POST ${path} in camelCase, with its verb first: ${verbs.join(' or ')}.`,
              location: ctx.location.child('operationId'),
            });
        },
      },
    },
  };
};

// The docs list operations by their summaries, with a section for each tag.
export const docsList = () => {
  const summaries = new Map();
  const tags = new Set();
  return {
    Operation({ tags: own }) {
      for (const tag of list(own)) tags.add(tag);
    },
    ...eachOperation(({ operationId, summary }, ctx) => {
      const other = summaries.get(summary) ?? operationId;
      summaries.set(summary, other);
      if (!isText(summary) || other === operationId) return;
      ctx.report({
        message: `${other} has this summary, too, so readers of the docs cannot tell the two apart. Write another one.`,
        location: ctx.location.child('summary').key(),
      });
    }),
    Root: {
      leave(root, ctx) {
        for (const [index, tag] of list(root.tags).entries()) {
          if (tags.has(tag?.name)) continue;
          ctx.report({
            message:
              'No operation has this tag, so its section of the docs would be empty. Give it to one, or remove it.',
            location: ctx.location.child(['tags', index]),
          });
        }
      },
    },
  };
};

// The extensions are documented in docs/guides/api-designer.md.
const known = ['x-deprecation', 'x-merchant-scope', 'x-rate-limit', 'x-reserved', 'x-velocity-limit'];

export const extensions = () => ({
  any: {
    enter(node, ctx) {
      if (!isObject(node) || !ctx.type.extensionsPrefix) return;
      const allowed = ctx.type.name === 'Operation' ? known : [];
      for (const name of Object.keys(node).filter((key) => key.startsWith('x-') && !allowed.includes(key))) {
        ctx.report({
          message: `The extension ${name} is not allowed here. Use one from docs/guides/api-designer.md, or add it there and to scripts/redocly.`,
          suggest: allowed.filter((one) => node[one] === undefined),
          location: ctx.location.child(name).key(),
        });
      }
    },
  },
  ...eachOperation((operation, ctx) => {
    const { 'x-rate-limit': limit, 'x-deprecation': deprecation, deprecated = false } = operation;
    if (isObject(limit) && !scopesOf(operation).includes(limit.scope)) {
      ctx.report({
        message: 'Write a scope into x-rate-limit that this operation names in its security.',
        location: ctx.location.child('x-rate-limit'),
      });
    }
    if (deprecated ? isDeprecation(deprecation) : deprecation === undefined) return;
    ctx.report({
      message:
        'Write "deprecated: true" and "x-deprecation: {since: 2027-01-01, sunset: 2028-01-01}", with at least a year between them.',
      location: ctx.location.child(deprecated ? 'deprecated' : 'x-deprecation').key(),
    });
  }),
});

const day = (text) => (/^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN);
// Callers need the time that the introduction promises.
const isDeprecation = (value) =>
  entries(value).length === 2 && day(value.sunset) - day(value.since) >= 365 * 86_400_000;

const envelope = ['items', 'limit', 'next_cursor', 'previous_cursor'];
const isEnvelope = (schema) =>
  [...list(schema?.required)].sort().join() === envelope.join() &&
  Object.keys(schema.properties ?? {})
    .sort()
    .join() === envelope.join() &&
  schema.properties.items?.type === 'array';

export const listShape = ({ except = [] }) =>
  eachOperation((operation, ctx) => {
    const { operationId } = operation;
    if (!isText(operationId) || !operationId.startsWith('list') || except.includes(operationId)) return;
    const query = parametersOf(operation, ctx).filter(({ node }) => node.in === 'query');
    for (const name of ['cursor', 'limit']) {
      if (query.some(({ node }) => node.name === name)) continue;
      ctx.report({
        message: `${operationId} is a list: add the query parameter ${name} by $ref to components/parameters.`,
        location: ctx.location.child('parameters').key(),
      });
    }
    const response = follow(operation.responses?.['200'], ctx.location.child(['responses', '200']), ctx);
    const media = response.node?.content?.['application/json'];
    const schema = media && follow(media.schema, response.location, ctx).node;
    if (isEnvelope(schema)) return;
    ctx.report({
      message: `${operationId} must have a 200 response with the collection envelope: required ${envelope.join(', ')}, nothing else, and items an array.`,
      location: ctx.location.child(['responses', '200']),
    });
  });
