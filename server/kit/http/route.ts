// Finds the operation for a path and method. Paths are compared as text: with `//`, `%00`, a trailing slash or other letter
// case they do not match.
import type { Request } from 'express';
import type { Document } from '../contract/load.ts';
import { ApiError } from '../errors.ts';
import { announceDeprecation } from './headers.ts';
import type { Passed, Step } from './pipeline.ts';

interface Route<Operation> {
  pattern: RegExp;
  methods: Map<string, Operation>;
}

export interface Found<Operation> {
  operation: Operation;
  /** The methods of the path, for the `Allow` header. */
  allow: string;
}

export interface Router<Operation> {
  (req: Request): Found<Operation>;
  isKnown: (req: Request) => boolean;
  allowOf: (url: string) => string | undefined;
}

export function createRouter<Operation extends { method: string; path: string }>(
  table: readonly Operation[],
): Router<Operation> {
  const routes = new Map<string, Route<Operation>>();
  for (const operation of table) {
    const { path, method } = operation;
    const route = routes.get(path) ?? { pattern: patternOf(path), methods: new Map<string, Operation>() };
    route.methods.set(method.toUpperCase(), operation);
    routes.set(path, route);
  }
  const templates = [...routes.values()];
  const routeOf = (url: string) => {
    const end = url.indexOf('?');
    const path = end < 0 ? url : url.slice(0, end);
    return routes.get(path) ?? templates.find(({ pattern }) => pattern.test(path));
  };
  const allowIn = ({ methods }: Route<Operation>) => [...methods.keys()].join(', ');
  const find = ({ url, method }: Request) => {
    const found = routeOf(url);
    if (!found) throw new ApiError('not_found', { reason: 'unknown path' });
    const operation = found.methods.get(method);
    const allow = allowIn(found);
    if (!operation)
      throw new ApiError('method_not_allowed', {
        reason: `the path allows ${allow}`,
        headers: { Allow: allow },
      });
    return { operation, allow };
  };
  return Object.assign(find, {
    isKnown: ({ url }: Request) => routeOf(url) !== undefined,
    allowOf: (url: string) => {
      const found = routeOf(url);
      return found && allowIn(found);
    },
  });
}

const patternOf = (path: string) =>
  new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]+\}/g, '[^/]+')}$`);

/** The step that finds the operation. Every answer from here on tells callers if it is deprecated. */
export const createRoute =
  <Known, Routed extends { operation: { method: string; path: string } }>(
    find: (known: Known, req: Request) => Routed,
    documentOf: (known: Known) => Document,
  ): Step<Known & Passed<'wellFormed'>, Routed> =>
  (known, req, res) => {
    const found = find(known, req);
    announceDeprecation(documentOf(known), found.operation, res);
    return found;
  };
