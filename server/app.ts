// The pipeline: one ordered list that reads like the order of checks. What differs per operation is read from the
// contract. Nothing is decided here.
import express, { type Express, type Response } from 'express';
import { createExamples } from './contract/examples.ts';
import type { Document } from './contract/load.ts';
import type { Handler, Input, OperationId } from '../generated/operations.ts';
import { handlers } from './handlers/index.ts';
import type { Deps } from './handlers/deps.ts';
import { contextOf, step } from './http/context.ts';
import { requestId } from './http/request-id.ts';
import { route } from './http/route.ts';
import { writeError } from './http/write-error.ts';

export function createApp({ document }: { document: Document }): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const deps: Deps = { example: createExamples(document) };
  app.get('/openapi.json', (_req, res) => void res.json(document));
  app.use(step(requestId));
  app.use(step(route));
  app.use(async (_req, res) => {
    await answer(contextOf(res).operation.id, res, deps);
  });
  app.use(writeError);
  return app;
}

async function answer(id: OperationId, res: Response, deps: Deps): Promise<void> {
  const handle = handlers[id] as Handler<OperationId, Deps>;
  const result = await handle({ query: {}, body: undefined } as unknown as Input<OperationId>, deps);
  res.status(result.status).set(result.headers ?? {});
  res.json(result.body);
}
