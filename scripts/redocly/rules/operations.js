// What every operation must say: who may call it, what limits it, how lists look, which errors it answers.

const scopeForm = /^([a-z0-9]+(-[a-z0-9]+)*\.(read|write)|embed)$/;

export const operationScope = () => ({
  Paths: {
    Operation(operation, ctx) {
      const location = ctx.location.child('security');
      const alternatives = operation.security ?? [];
      const how = 'such as "security: [{BearerAuth: [transactions.read]}]".';
      if (alternatives.length === 0) {
        ctx.report({
          message: `Name the scope that ${operation.operationId} needs, ${how}`,
          location: ctx.location.key(),
        });
      }
      for (const alternative of alternatives) {
        const scopes = Object.values(alternative).flat();
        if (scopes.length !== 1 || !scopes.every((scope) => scopeForm.test(scope))) {
          ctx.report({
            message: `Each alternative of security names one scope "<resource>.read", "<resource>.write" or "embed", ${how}`,
            location,
          });
        }
      }
    },
  },
});

// The extensions are documented in docs/guides/api-designer.md.
export const extensions = () => ({
  Paths: {
    Operation(operation, ctx) {
      const { 'x-merchant-scope': scope, 'x-rate-limit': limit, 'x-reserved': reserved = {} } = operation;
      if (!['none', 'one', 'many'].includes(scope)) {
        ctx.report({
          message:
            'Set x-merchant-scope: none (no merchant account), one (a single account) or many ("*" is allowed).',
          location: scope === undefined ? ctx.location.key() : ctx.location.child('x-merchant-scope'),
        });
      }
      const shape = limit && Object.keys(limit).sort().join() === 'limit,scope,window_seconds';
      if (
        limit !== undefined &&
        !(shape && limit.limit > 0 && limit.window_seconds > 0 && scopeForm.test(limit.scope))
      ) {
        ctx.report({
          message: 'Write x-rate-limit as {scope: embed, limit: 50, window_seconds: 60}.',
          location: ctx.location.child('x-rate-limit'),
        });
      }
      for (const [status, reason] of Object.entries(reserved)) {
        if (operation.responses?.[status] && typeof reason === 'string' && reason.length >= 20) continue;
        ctx.report({
          message: `x-reserved of ${status} needs a declared response ${status} and a sentence that says why it never happens.`,
          location: ctx.location.child(['x-reserved', status]),
        });
      }
      for (const name of Object.keys(operation)) {
        if (!name.startsWith('x-') || ['x-merchant-scope', 'x-rate-limit', 'x-reserved'].includes(name))
          continue;
        ctx.report({
          message: `${name} is not an extension of this house. Use one of those in docs/guides/api-designer.md, or add it there and to scripts/redocly.`,
          location: ctx.location.child(name).key(),
        });
      }
    },
  },
});

export const listShape = ({ except = [] }) => ({
  Paths: {
    Operation(operation, ctx) {
      if (!operation.operationId?.startsWith('list') || except.includes(operation.operationId)) return;
      const names = (operation.parameters ?? []).map((parameter) => ctx.resolve(parameter).node?.name);
      for (const name of ['cursor', 'limit']) {
        if (names.includes(name)) continue;
        ctx.report({
          message: `${operation.operationId} is a list: add the query parameter ${name} (components/parameters).`,
          location: ctx.location.child('parameters'),
        });
      }
      const answer = ctx.resolve(operation.responses?.['200'] ?? {}).node;
      const schema = ctx.resolve(answer?.content?.['application/json']?.schema ?? {}).node;
      const envelope = ['items', 'limit', 'next_cursor', 'previous_cursor'];
      const required = [...(schema?.required ?? [])].sort().join();
      const properties = Object.keys(schema?.properties ?? {})
        .sort()
        .join();
      if (required === envelope.join() && properties === envelope.join()) return;
      ctx.report({
        message: `${operation.operationId} must answer with the collection envelope: required ${envelope.join(', ')}, and nothing else.`,
        location: ctx.location.child(['responses', '200']),
      });
    },
  },
});

export const sharedErrors = () => ({
  Paths: {
    Operation(operation, ctx) {
      const responses = operation.responses ?? {};
      const reserved = operation['x-reserved'] ?? {};
      const input = (operation.parameters ?? []).length > 0 || operation.requestBody;
      const paged = (operation.parameters ?? []).some(
        (parameter) => ctx.resolve(parameter).node?.name === 'cursor',
      );
      const needed = {
        400: input && 'it has input',
        401: 'every operation needs a token',
        403: 'every operation needs a scope',
        404: operation['x-merchant-scope'] !== 'none' && 'its merchant account may not exist',
        405: 'its path may be called with another method',
        422: paged && 'its cursor may be foreign',
        425: ctx.key === 'post' && 'a POST may come as early data',
        429: operation['x-rate-limit'] && 'it has a rate limit',
        500: 'anything may fail',
      };
      for (const [status, why] of Object.entries(needed)) {
        if (!why || (responses[status] && !(status in reserved))) continue;
        ctx.report({
          message: `Declare ${status} (${why}) by $ref to components/responses, and do not reserve it.`,
          location: ctx.location.child('responses').key(),
        });
      }
      for (const [status, response] of Object.entries(responses)) {
        if (status < '400' || /components\/responses\/[^/]+$/.test(response.$ref ?? '')) continue;
        ctx.report({
          message: `Errors are shared: answer ${status} by $ref to a file in components/responses.`,
          location: ctx.location.child(['responses', status]),
        });
      }
    },
  },
});
