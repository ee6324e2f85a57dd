// Requests are judged by express-openapi-validator, with guards against what it lets through or chokes on; see
// docs/decisions/0005. Whoever wants to judge like the server, the mock for one, uses this.
import type { Request, RequestHandler, Response } from 'express';
import * as validator from 'express-openapi-validator';
import { operations, type OperationId } from '../../generated/operations.ts';
import { ApiError } from '../errors.ts';
import { createExplainer, hasBody, unexplained } from './explain.ts';
import { ContractFault, resolve, type Document, type Parameter, type Schema } from './load.ts';

export interface RequestJudge {
  /** Refuses with 400 and every violation, or leaves validated `query` and `body` on the request. */
  judge: (id: OperationId, req: Request, res: Response) => Promise<void>;
}

export async function createRequestJudge(document: Document): Promise<RequestJudge> {
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
      fileUploader: false,
      operationHandlers: false,
    })
    .filter(({ name }) => name === 'metadataMiddleware' || name === 'requestMiddleware') as RequestHandler[];
  if (steps.length !== 2)
    throw new Error('express-openapi-validator has changed its steps; see server/contract/requests.ts');
  await warmUp(prepared, steps);

  return {
    async judge(id, req, res) {
      const [, query = ''] = req.url.split(/\?(.*)/s, 2);
      const refuse = (cause?: unknown) => {
        const details = explainer.explain(id, query, req.body);
        throw new ApiError(400, { details: details.length > 0 ? details : [unexplained], cause });
      };
      if (explainer.isSloppy(id, query)) refuse();
      try {
        for (const run of steps) await runStep(run, req, res);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refuse(error);
      }
    },
  };
}

const isRefusal = (error: unknown): boolean => {
  const { BadRequest, UnsupportedMediaType } = validator.error;
  return error instanceof BadRequest || error instanceof UnsupportedMediaType;
};

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
// is called once, at start, with a request that has nothing.
async function warmUp(document: Document, steps: RequestHandler[]): Promise<void> {
  for (const id of Object.keys(operations) as OperationId[]) {
    const { method, path } = operations[id];
    const headers = hasBody(document, id) ? { 'content-type': 'application/json' } : {};
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
    try {
      for (const run of steps) await runStep(run, req as unknown as Request, {} as Response);
    } catch (error) {
      if (!isRefusal(error))
        throw new ContractFault(
          `The contract cannot be used for ${id}: ${error instanceof Error ? error.message : String(error)}`,
        );
    }
  }
}

// In a query there is no null: coercion would take an empty value for it. The contract says "or null" for typed clients,
// which leave the parameter out.
function withoutNullQueries(document: Document): Document {
  const copy = structuredClone(document);
  for (const parameter of Object.values(copy.components.parameters ?? {}) as Parameter[]) {
    if (parameter.in !== 'query') continue;
    const schema = { ...resolve<Schema>(copy, parameter.schema) };
    if (!Array.isArray(schema.type)) continue;
    const types = schema.type.filter((type) => type !== 'null');
    parameter.schema = { ...schema, type: types.length === 1 && types[0] ? types[0] : types };
  }
  return copy;
}
