// Validates requests with express-openapi-validator, plus checks for what it misses or cannot handle; see
// docs/decisions/0005. The mock uses this too, so that it accepts exactly what the server accepts.
import { setImmediate as afterPending } from 'node:timers/promises';
import type { Request, RequestHandler, Response } from 'express';
import * as validator from 'express-openapi-validator';
import schemaValidator from 'express-openapi-validator/dist/framework/openapi.schema.validator.js';
import type { OperationId } from '../../../generated/operations.ts';
import { ApiError, type Detail } from '../errors.ts';
import { reasonOf } from '../faults.ts';
import { formats } from './ajv.ts';
import { createExplain } from './explain.ts';
import {
  ContractFault,
  operationsOf,
  resolve,
  type Document,
  type OperationEntry,
  type Parameter,
  type Schema,
} from './load.ts';
import { hasMissedFault, queryParametersOf, readQuery } from './url.ts';
import { boundFaults } from './violations.ts';

type PathParameters = Record<string, unknown>;

export interface Validator {
  /**
   * Throws a 400 with all violations, or leaves the validated `query` and `body` on the request. The path parameters are
   * returned, because Express resets `req.params` for the next middleware.
   */
  validate: (id: OperationId, req: Request, res: Response) => Promise<PathParameters>;
  /**
   * Calls every operation once. express-openapi-validator compiles an operation at its first request, and a contract that it
   * cannot use would fail only then. This throws a ContractFault instead.
   */
  callEveryOperation: () => Promise<void>;
}

// express-openapi-validator compiles the schema of OpenAPI itself at every start, even if it is told not to use it
// (`validateApiSpec: false`). That is a quarter of a second for nothing: Redocly has linted the contract.
schemaValidator.OpenAPISchemaValidator = class {
  validate = () => ({ errors: [] });
} as unknown as typeof schemaValidator.OpenAPISchemaValidator;

/** For a request that is refused although nothing wrong is found with it. No such case is known. */
export const unexplained: Detail = {
  location: 'body',
  pointer: '',
  message: 'does not match the contract',
  type: 'value_error',
};

export function createValidator(document: Document): Validator {
  const prepared = prepareQueries(document);
  const explain = createExplain(prepared);
  // Each with middleware of its own: that of a whole contract compares a request with one path after the other.
  const operations = new Map(
    operationsOf(prepared).map((entry) => [
      entry.operation.operationId,
      {
        entry,
        parameters: queryParametersOf(prepared, entry.operation),
        runMiddleware: createMiddleware(requestSide(prepared, entry)),
      },
    ]),
  );

  return {
    async validate(id, req, res) {
      const known = operations.get(id);
      if (!known) throw new Error(`the contract has no operation ${id}`);
      const { entry, parameters, runMiddleware } = known;
      const { requestBody } = entry.operation;
      const query = readQuery(parameters, req.url);
      if (requestBody) boundFaults(prepared, requestBody.content['application/json'].schema, req.body);
      const refuse = (cause?: unknown) => {
        const details = explain(entry, req);
        return new ApiError('bad_request', { details: details.length > 0 ? details : [unexplained], cause });
      };
      // The middleware asks for a body only if the schema has required properties.
      const isWithoutBody = requestBody?.required === true && req.body === undefined;
      if (isWithoutBody || hasMissedFault(parameters, query)) throw refuse();
      // Express has a getter there, which parses the URL again. The middleware changes the object: it adds defaults and converts
      // numbers and arrays.
      Object.defineProperty(req, 'query', { value: query.values, configurable: true, writable: true });
      try {
        await runMiddleware(req, res);
      } catch (error) {
        throw isRefusal(error) ? refuse(error) : error;
      }
      if (!isValidated(req)) throw new Error(`express-openapi-validator does not know ${id}`);
      return req.openapi.pathParams;
    },

    async callEveryOperation() {
      for (const { entry, runMiddleware } of operations.values()) {
        await afterPending();
        const req = exampleRequest(prepared, entry);
        const unusable = (why: string) =>
          new ContractFault(
            `The contract cannot be used: ${why} (in a call of ${entry.operation.operationId})`,
          );
        try {
          await runMiddleware(req, {} as Response);
        } catch (error) {
          // It may refuse the example (a path or a query may need more), but only if there is a violation.
          if (!isRefusal(error) || explain(entry, req).length === 0) throw unusable(reasonOf(error));
        }
        if (!isValidated(req))
          throw unusable('its path is not known to express-openapi-validator; see `servers`');
      }
    },
  };
}

function createMiddleware(apiSpec: object) {
  const steps = validator.middleware({
    apiSpec: apiSpec as never,
    validateApiSpec: false,
    // Without allErrors it reports only the first violation; with coerceTypes it would accept "5" as 5 in a body. Unknown names are refused
    // before: see `hasMissedFault`.
    validateRequests: { allErrors: true, coerceTypes: false, allowUnknownQueryParameters: true },
    validateResponses: false,
    validateSecurity: false,
    validateFormats: true,
    // The default mode, fast, accepts month 19.
    ajvFormats: { mode: 'full' },
    formats,
    fileUploader: false,
    operationHandlers: false,
  }) as RequestHandler[];
  return async (req: Request, res: Response) => {
    for (const step of steps) await run(step, req, res);
  };
}

const isRefusal = (error: unknown): boolean => {
  const { BadRequest, UnsupportedMediaType } = validator.error;
  return error instanceof BadRequest || error instanceof UnsupportedMediaType;
};

// The middleware silently skips unknown paths; with a base path in `servers` it would skip all of them.
const isValidated = <R extends object>(req: R): req is R & { openapi: { pathParams: PathParameters } } =>
  'openapi' in req && req.openapi !== undefined;

const run = (handler: RequestHandler, req: Request, res: Response) =>
  new Promise<void>((done, failed) => {
    void handler(req, res, (error?: unknown) => {
      if (error === undefined) done();
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- passed on unchanged
      else failed(error);
    });
  });

/** Has the body of an example: listing the violations of an invalid one would compile schemas first. */
function exampleRequest(document: Document, { operation, method, path }: OperationEntry): Request {
  const media = operation.requestBody?.content['application/json'];
  const [example] = Object.values(media?.examples ?? {});
  const url = path.replace(/\{[^}]+\}/g, 'x');
  const req = {
    ...{ method: method.toUpperCase(), url, originalUrl: url, path: url, baseUrl: '', query: {}, params: {} },
    headers: media ? { 'content-type': 'application/json' } : {},
    body: structuredClone(example && resolve<{ value?: unknown }>(document, example).value),
    app: { enabled: () => true, param: () => undefined },
  };
  return req as unknown as Request;
}

/**
 * The contract of one operation, without what the middleware would read for nothing: it compiles every schema that it finds,
 * those of responses too, although it is not asked to validate them, and it looks up every referenced parameter at each request.
 */
function requestSide(document: Document, { operation, method, path }: OperationEntry): object {
  const { openapi, info, servers, components } = document;
  const { requestBody, operationId } = operation;
  const parameters = operation.parameters?.map((parameter) => resolve<Parameter>(document, parameter));
  const media = requestBody && { schema: requestBody.content['application/json'].schema };
  const own = {
    operationId,
    parameters,
    ...(media && { requestBody: { ...requestBody, content: { 'application/json': media } } }),
    responses: { default: { description: 'Not validated here.' } },
  };
  const schemas: Record<string, unknown> = {};
  const keep = (node: object) => {
    for (const [, name = ''] of JSON.stringify(node).matchAll(/"#\/components\/schemas\/([^"/]+)/g)) {
      if (name in schemas) continue;
      schemas[name] = components.schemas?.[name];
      keep(schemas[name] as object);
    }
  };
  keep(own);
  return structuredClone({
    openapi,
    info,
    servers,
    paths: { [path]: { [method]: own } },
    components: { schemas },
  });
}

// A query cannot contain null, but coercion would turn an empty value (or 0 in an `anyOf`) into null. The contract allows
// null only for typed clients. And the middleware refuses a raw `:` or `+` unless `allowReserved` is set; the contract does not
// say so, because to readers it means that values need not be URL-encoded.
function prepareQueries(document: Document): Document {
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
