// Finds the operation for a path and method. Paths are compared as text: with `//`, `%00`, a trailing slash or other letter
// case they do not match.
import type { Request } from 'express';
import { ApiError } from '../errors.ts';

interface Place {
  method: string;
  path: string;
}

interface Route<Operation> {
  pattern: RegExp;
  methods: Map<string, Operation>;
}

export interface Found<Operation> {
  operation: Operation;
  /** The methods of the path, for the `Allow` header. */
  allow: string;
}

export function createRouter<Operation extends Place>(
  table: readonly Operation[],
): (req: Request) => Found<Operation> {
  const routes = new Map<string, Route<Operation>>();
  for (const operation of table) {
    const { path, method } = operation;
    const route = routes.get(path) ?? { pattern: patternOf(path), methods: new Map<string, Operation>() };
    route.methods.set(method.toUpperCase(), operation);
    routes.set(path, route);
  }
  return ({ url, method }) => {
    const [path = ''] = url.split('?', 1);
    const found = routes.get(path) ?? [...routes.values()].find(({ pattern }) => pattern.test(path));
    if (!found) throw new ApiError('not_found', { reason: 'unknown path' });
    const operation = found.methods.get(method);
    const allow = [...found.methods.keys()].join(', ');
    if (!operation)
      throw new ApiError('method_not_allowed', {
        reason: `the path allows ${allow}`,
        headers: { Allow: allow },
      });
    return { operation, allow };
  };
}

const patternOf = (path: string) =>
  new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]+\}/g, '[^/]+')}$`);
