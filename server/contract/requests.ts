// Validates requests with express-openapi-validator, plus checks for what it misses or cannot handle; see
// docs/decisions/0005. The mock uses this too, so that it accepts exactly what the server accepts.
import { setImmediate as afterPending } from 'node:timers/promises';
import type { Request, RequestHandler, Response } from 'express';
import * as validator from 'express-openapi-validator';
import type { OperationId } from '../../generated/operations.ts';
import { ApiError } from '../errors.ts';
import { createAcceptance, type Acceptance } from './acceptance.ts';
import { boundFaults, mostFaults } from './bound-faults.ts';
import { createExplainer, unexplained, type Explainer } from './explain.ts';
import { formats } from './formats.ts';
import { ContractFault, operationsOf, resolve, type Document, type Parameter, type Schema } from './load.ts';
import { parsePath } from './path.ts';
import { parseQuery } from './query.ts';
import './skip-openapi-schema.ts';

export interface RequestJudge {
  /** Throws a 400 with all violations, or leaves the validated `query` and `body` on the request. */
  judge: (id: OperationId, req: Request, res: Response) => Promise<Judged>;
}

export interface Judged {
  /** The path parameters. Returned, because Express resets `req.params` for the next middleware. */
  path: Record<string, unknown>;
}

interface JudgeOptions {
  /** Whether the validator is known to accept the document. Then it does not check it again, and no start waits for that. */
  isVerified?: boolean;
  /** Whether valid requests may be accepted without the validator, as soon as that can be done. */
  isQuick?: boolean;
}

export async function createRequestJudge(
  document: Document,
  { isVerified = false, isQuick = false }: JudgeOptions = {},
): Promise<RequestJudge> {
  refuseRefSiblings(document);
  const prepared = prepareQueries(document);
  const operations = new Map(operationsOf(prepared).map((entry) => [entry.operation.operationId, entry]));
  const explainer = createExplainer(prepared);
  const middleware = validator.middleware({
    apiSpec: requestSide(prepared) as never,
    validateApiSpec: !isVerified,
    // Without allErrors it reports only the first violation; with coerceTypes it would accept "5" as 5 in a body.
    validateRequests: { allErrors: true, coerceTypes: false, allowUnknownQueryParameters: false },
    validateResponses: false,
    validateSecurity: false,
    validateFormats: true,
    // The default mode, fast, accepts month 19.
    ajvFormats: { mode: 'full' },
    formats,
    fileUploader: false,
    operationHandlers: false,
  }) as RequestHandler[];
  const named = (name: string) => middleware.filter((one) => one.name === name);
  const steps = [...named('metadataMiddleware'), ...named('requestMiddleware')];
  const [load] = named('pathParamsMiddleware');
  if (steps.length !== 2 || !load)
    throw new Error(
      'this version of express-openapi-validator has other middleware; see server/contract/requests.ts',
    );
  const acceptance = isQuick ? createAcceptance(prepared) : undefined;
  if (!isVerified) await loadSpec(load);
  const warm = warmUp(prepared, steps, explainer, acceptance);
  // If it failed for a verified contract, the requests themselves would be answered with the same error.
  if (isVerified) warm.catch(() => undefined);
  else await warm;

  return {
    async judge(id, req, res) {
      const { values, faults } = parseQuery(req.url);
      const query = explainer.boundQuery(id, values);
      const refuse = (cause?: unknown) => {
        // Parsed again, because the validator changes `query` in place.
        const path = parsePath(operations.get(id)?.path ?? '', req.url);
        const given = explainer.boundQuery(id, parseQuery(req.url).values);
        const explained = explainer.explain(id, {
          query: given,
          body: req.body as unknown,
          path,
          headers: req.headers,
        });
        const details = [...faults, ...explained].slice(0, mostFaults);
        throw new ApiError('bad_request', { details: details.length > 0 ? details : [unexplained], cause });
      };
      const requestBody = operations.get(id)?.operation.requestBody;
      if (requestBody) boundFaults(prepared, requestBody.content['application/json'].schema, req.body);
      if (faults.length > 0 || explainer.hasMissedFault(id, query)) refuse();
      const accepted = acceptance?.accept(id, { query, headers: req.headers, body: req.body as unknown });
      if (accepted) {
        setQuery(req, accepted);
        return { path: {} };
      }
      // The validator changes this object: it adds defaults and converts numbers and arrays.
      setQuery(req, query);
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

// Express has a getter there, which parses the URL again.
const setQuery = (req: Request, value: object) =>
  Object.defineProperty(req, 'query', { value, configurable: true, writable: true });

const isRefusal = (error: unknown): boolean => {
  const { BadRequest, UnsupportedMediaType } = validator.error;
  return error instanceof BadRequest || error instanceof UnsupportedMediaType;
};

// The validator silently skips unknown paths; with a base path in `servers` it would skip all of them.
const isJudged = <R extends object>(req: R): req is R & { openapi: { pathParams: Judged['path'] } } =>
  'openapi' in req && req.openapi !== undefined;

const runStep = (run: RequestHandler, req: Request, res: Response) =>
  new Promise<void>((done, failed) => {
    const finished = run(req, res, (error?: unknown) => {
      if (error === undefined) done();
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- passed on unchanged
      else failed(error);
    });
    if (finished instanceof Promise) finished.catch(failed);
  });

/** This step alone says why the validator cannot read the document; the others only fail. */
const loadSpec = (load: RequestHandler) =>
  runStep(load, { app: { param: () => undefined } } as unknown as Request, {} as Response).catch(
    (error: unknown) => {
      throw new ContractFault(`The contract cannot be used: ${messageOf(error)}`);
    },
  );

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

// The validator compiles an operation at its first request, and a contract that it cannot compile would fail only then. So
// every operation is called once: by `npm run generate`, and before or soon after the service listens. Each is called with the
// body of an example. The validator may refuse that (a path or a query may need more), but only if there is a violation. Valid
// bodies also save time: to list violations takes compiled schemas.
async function warmUp(
  document: Document,
  steps: RequestHandler[],
  { explain }: Explainer,
  acceptance: Acceptance | undefined,
): Promise<void> {
  for (const { operation, method, path } of operationsOf(document)) {
    const id = operation.operationId as OperationId;
    // Requests that have arrived meanwhile go first.
    await afterPending();
    const media = operation.requestBody?.content['application/json'];
    const [example] = Object.values(media?.examples ?? {});
    const body = structuredClone(example && resolve<{ value?: unknown }>(document, example).value);
    const app = { enabled: () => true };
    const url = path.replace(/\{[^}]+\}/g, 'x');
    const req = {
      method: method.toUpperCase(),
      url,
      originalUrl: url,
      path: url,
      baseUrl: '',
      headers: media ? { 'content-type': 'application/json' } : {},
      query: {},
      params: {},
      body,
      app,
    };
    const unusable = (why: string) => new ContractFault(`The contract cannot be used for ${id}: ${why}`);
    try {
      for (const run of steps) await runStep(run, req as unknown as Request, {} as Response);
    } catch (error) {
      const given = { query: {}, body, path: parsePath(path, url), headers: {} };
      const isExplained = explain(id, given).length > 0;
      if (!isRefusal(error) || !isExplained) throw unusable(messageOf(error));
    }
    if (!isJudged(req)) throw unusable('its path is not known to express-openapi-validator; see `servers`');
    await afterPending();
    acceptance?.compile(id);
  }
}

// The validator compiles every schema that it finds, those of responses too, although it is not asked to validate them.
// Without them the service starts faster.
function requestSide({ webhooks: _, ...document }: Document): object {
  const { paths, components } = structuredClone(document);
  const { parameters, securitySchemes } = components;
  for (const { operation } of operationsOf({ ...document, webhooks: {}, paths })) {
    operation.responses = { default: { description: 'Not validated here.' } as object };
    if (operation.requestBody) operation.requestBody.content['application/json'].examples = {};
  }
  const schemas: Record<string, unknown> = {};
  const keep = (node: object) => {
    for (const [, name = ''] of JSON.stringify(node).matchAll(/"#\/components\/schemas\/([^"/]+)/g)) {
      if (name in schemas) continue;
      schemas[name] = components.schemas?.[name];
      keep(schemas[name] as object);
    }
  };
  keep([paths, parameters]);
  return { ...document, paths, components: { schemas, parameters, securitySchemes } };
}

// A query cannot contain null, but coercion would turn an empty value (or 0 in an `anyOf`) into null. The contract allows
// null only for typed clients. And the validator refuses a raw `:` or `+` unless `allowReserved` is set; the contract does not
// say so, because to readers it means that values need not be URL-encoded.
export function prepareQueries(document: Document): Document {
  const copy = structuredClone(document);
  const parameters = [
    ...Object.values(copy.components.parameters ?? {}),
    ...operationsOf(copy).flatMap(({ operation }) => operation.parameters ?? []),
  ] as (Parameter | { $ref: string })[];
  for (const parameter of parameters) {
    if ('$ref' in parameter || parameter.in !== 'query') continue;
    parameter.allowReserved = true;
    const present = withoutNull(resolve<Schema>(copy, parameter.schema));
    if (!present) continue;
    parameter.schema = present;
    // An empty value is how some clients write null. The schema decides whether it is valid.
    parameter.allowEmptyValue = true;
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

// The validator ignores keywords next to the `$ref` of a body, and would accept what these keywords forbid.
function refuseRefSiblings(document: Document): void {
  for (const { operation } of operationsOf(document)) {
    const { $ref, ...siblings } = operation.requestBody?.content['application/json'].schema ?? {};
    const dropped = Object.keys(siblings).filter((keyword) => keyword !== 'description');
    if ($ref !== undefined && dropped.length > 0)
      throw new ContractFault(
        `The contract cannot be used for ${operation.operationId}: move ${dropped.join(', ')}, next to the $ref of its body, into the schema ${$ref}`,
      );
  }
}
