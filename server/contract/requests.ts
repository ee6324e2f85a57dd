// Requests are judged by express-openapi-validator, with guards against what it lets through or chokes on; see
// docs/decisions/0005. Whoever wants to judge like the server, the mock for one, uses this.
import type { Request, RequestHandler, Response } from 'express';
import * as validator from 'express-openapi-validator';
import { operations, type OperationId } from '../../generated/operations.ts';
import { ApiError } from '../errors.ts';
import { curtail } from './truncate-lists.ts';
import { createExplainer, unexplained, type Explainer } from './explain.ts';
import { formats } from './formats.ts';
import { ContractFault, operationsOf, resolve, type Document, type Parameter, type Schema } from './load.ts';
import { parsePath } from './path.ts';
import { parseQuery } from './query.ts';

export interface RequestJudge {
  /** Refuses with 400 and every violation, or leaves validated `query` and `body` on the request. */
  judge: (id: OperationId, req: Request, res: Response) => Promise<Judged>;
}

export interface Judged {
  /** The parameters of the path, which Express would forget at its next step. */
  path: Record<string, unknown>;
}

interface Place {
  method: string;
  path: string;
}

const bodyOf = ({ paths }: Document, at: Place | undefined) => at && paths[at.path]?.[at.method]?.requestBody;

/** The table is given by who reloads the contract while running, as the mock does: an import is read only once. */
export async function createRequestJudge(
  document: Document,
  table: Readonly<Record<string, Place>> = operations,
): Promise<RequestJudge> {
  refuseBesideReference(document);
  const prepared = withoutNullQueries(document);
  const explainer = createExplainer(prepared);
  const steps = validator
    .middleware({
      apiSpec: structuredClone(prepared) as never,
      // Without allErrors it names one violation at a time; with coerceTypes "5" would pass for 5 in a body.
      validateRequests: { allErrors: true, coerceTypes: false, allowUnknownQueryParameters: false },
      validateResponses: false,
      validateSecurity: false,
      validateFormats: true,
      // The default, fast, accepts month 19.
      ajvFormats: { mode: 'full' },
      formats,
      fileUploader: false,
      operationHandlers: false,
    })
    .filter(({ name }) => name === 'metadataMiddleware' || name === 'requestMiddleware') as RequestHandler[];
  if (steps.length !== 2)
    throw new Error('express-openapi-validator has changed its steps; see server/contract/requests.ts');
  await warmUp(prepared, table, steps, explainer);

  return {
    async judge(id, req, res) {
      const query = parseQuery(req.url);
      const refuse = (cause?: unknown) => {
        // Read again: the validator has been at work on the other.
        const path = parsePath(table[id]?.path ?? '', req.url);
        const details = explainer.explain(id, parseQuery(req.url), req.body, path);
        throw new ApiError('bad_request', { details: details.length > 0 ? details : [unexplained], cause });
      };
      const requestBody = bodyOf(prepared, table[id]);
      if (requestBody) curtail(prepared, requestBody.content['application/json'].schema, req.body);
      if (explainer.isSloppy(id, query)) refuse();
      // The validator fills this very object: defaults, numbers instead of text, arrays.
      Object.defineProperty(req, 'query', { value: query, configurable: true, writable: true });
      try {
        for (const run of steps) await runStep(run, req, res);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refuse(error);
      }
      if (!isJudged(req)) throw new Error(`express-openapi-validator does not know ${id}`);
      return { path: req.openapi.pathParams };
    },
  };
}

const isRefusal = (error: unknown): boolean => {
  const { BadRequest, UnsupportedMediaType } = validator.error;
  return error instanceof BadRequest || error instanceof UnsupportedMediaType;
};

// It passes over a path that it does not know, in silence: with a base path in `servers`, over all of them.
const isJudged = <R extends object>(req: R): req is R & { openapi: { pathParams: Judged['path'] } } =>
  'openapi' in req && req.openapi !== undefined;

const runStep = (run: RequestHandler, req: Request, res: Response) =>
  new Promise<void>((done, failed) => {
    const finished = run(req, res, (error?: unknown) => {
      if (error === undefined) done();
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- handed on as it came
      else failed(error);
    });
    if (finished instanceof Promise) finished.catch(failed);
  });

// It compiles an operation at its first request, and a contract that it cannot compile fails only then. So every operation
// is called once, at start, with a request that has nothing. It may refuse that, but only for a reason.
async function warmUp(
  document: Document,
  table: Readonly<Record<string, Place>>,
  steps: RequestHandler[],
  { explain }: Explainer,
): Promise<void> {
  for (const [id, { method, path }] of Object.entries(table) as [OperationId, Place][]) {
    const headers = bodyOf(document, { method, path }) ? { 'content-type': 'application/json' } : {};
    const app = { enabled: () => true };
    const url = path.replace(/\{[^}]+\}/g, 'x');
    const req = {
      method: method.toUpperCase(),
      url,
      originalUrl: url,
      path: url,
      baseUrl: '',
      headers,
      query: {},
      params: {},
      app,
    };
    const unusable = (why: string) => new ContractFault(`The contract cannot be used for ${id}: ${why}`);
    try {
      for (const run of steps) await runStep(run, req as unknown as Request, {} as Response);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const isExplained = explain(id, {}, undefined, parsePath(path, url)).length > 0;
      if (!isRefusal(error) || !isExplained) throw unusable(why);
    }
    if (!isJudged(req)) throw unusable('its path is not known to express-openapi-validator; see `servers`');
  }
}

// In a query there is no null: coercion would take an empty value, or 0 behind an `anyOf`, for it. The contract says
// "or null" for typed clients, which leave the parameter out.
function withoutNullQueries(document: Document): Document {
  const copy = structuredClone(document);
  const parameters = [
    ...Object.values(copy.components.parameters ?? {}),
    ...operationsOf(copy).flatMap(({ operation }) => operation.parameters ?? []),
  ] as (Parameter | { $ref: string })[];
  for (const parameter of parameters) {
    if ('$ref' in parameter || parameter.in !== 'query') continue;
    parameter.schema = withoutNull(resolve<Schema>(copy, parameter.schema)) ?? parameter.schema;
  }
  return copy;
}

function withoutNull({ type, anyOf, ...rest }: Schema): Schema | undefined {
  if (Array.isArray(type)) return { ...rest, type: single(type.filter((one) => one !== 'null')) };
  if (!Array.isArray(anyOf)) return undefined;
  const branches = (anyOf as Schema[]).filter((branch) => branch.type !== 'null');
  return branches.length === 1 && branches[0] ? { ...rest, ...branches[0] } : { ...rest, anyOf: branches };
}

const single = (types: string[]) => (types.length === 1 && types[0] ? types[0] : types);

// It drops what stands beside the reference of a body, and would let through what the contract refuses.
function refuseBesideReference(document: Document): void {
  for (const { operation } of operationsOf(document)) {
    const { $ref, ...beside } = operation.requestBody?.content['application/json'].schema ?? {};
    const dropped = Object.keys(beside).filter((keyword) => keyword !== 'description');
    if ($ref !== undefined && dropped.length > 0)
      throw new ContractFault(
        `The contract cannot be used for ${operation.operationId}: move ${dropped.join(', ')} from beside the $ref of its body into the schema ${$ref}`,
      );
  }
}
