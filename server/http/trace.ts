// Traces a request: the trace of the caller is in its log lines, and goes on in the webhooks that it causes.
import type { RequestHandler } from 'express';
import { partialContextOf } from './context.ts';

/** Made by upkeep/tracing.ts. */
export interface RequestTracing {
  beginRequest: (given: string | undefined) => {
    traceId: string | undefined;
    run: (work: () => void) => void;
    end: (operation: string | undefined, status: number | 'aborted') => void;
  };
}

export const createTrace =
  ({ beginRequest }: RequestTracing): RequestHandler =>
  (req, res, next) => {
    const given = req.headers.traceparent;
    const { traceId, run, end } = beginRequest(typeof given === 'string' ? given : undefined);
    const context = partialContextOf(res);
    context.traceId = traceId;
    res.on('close', () => {
      end(context.operation?.id, res.writableFinished ? res.statusCode : 'aborted');
    });
    run(next);
  };
