// Known path and method, from the operation table. Compared as text: `//`, `%00`, a trailing slash or another case are
// simply other paths.
import { operations, type Operation, type OperationId } from '../../generated/operations.ts';
import { ApiError } from '../errors.ts';
import type { Step } from './context.ts';

interface Route {
  pattern: RegExp;
  methods: Map<string, OperationId>;
}

const routes = new Map<string, Route>();
for (const [id, { path, method }] of Object.entries(operations) as [OperationId, Operation][]) {
  const pattern = new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]+\}/g, '[^/]+')}$`);
  const known = routes.get(path) ?? { pattern, methods: new Map<string, OperationId>() };
  known.methods.set(method.toUpperCase(), id);
  routes.set(path, known);
}

export const route: Step = (context, req) => {
  const [path = ''] = req.url.split('?', 1);
  const found = routes.get(path) ?? [...routes.values()].find(({ pattern }) => pattern.test(path));
  if (!found) throw new ApiError(404, { reason: 'unknown path' });
  const id = found.methods.get(req.method);
  if (!id) throw new ApiError(405, { headers: { Allow: [...found.methods.keys()].join(', ') } });
  context.operation = operations[id];
};
