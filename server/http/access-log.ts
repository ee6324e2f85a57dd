// What is kept of a request: its line in the log, and its trace.
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { RequestFeed } from './desk/feed.ts';
import { isProbe } from './health.ts';
import { partialContextOf } from './step.ts';
import { unknownPath } from './write-error.ts';

/** Called when a request has ended, with the ID of its operation. */
type NoteRequest = (operation: string | undefined, status: number | 'aborted', milliseconds: number) => void;

interface Notes {
  noteRequest?: NoteRequest | undefined;
  /** For the sandbox's landing page. */
  keep?: RequestFeed['note'] | undefined;
}

/** Logs one line per request when it ends. It has the path of the contract, because the URL may contain identifiers. */
export const createAccessLog =
  (log: Logger, { noteRequest, keep }: Notes = {}): RequestHandler =>
  (req, res, next) => {
    const begun = performance.now();
    res.on('close', () => {
      const { requestId, traceId, operation, caller, selection, refusal, unready } = partialContextOf(res);
      const status: number | 'aborted' = res.writableFinished ? res.statusCode : 'aborted';
      const milliseconds = performance.now() - begun;
      noteRequest?.(operation?.id, status, milliseconds);
      const record = {
        requestId,
        traceId,
        method: req.method,
        path: operation?.path ?? unknownPath(req.originalUrl),
        status,
        ...refusal,
        ...(unready !== undefined && { reason: unready }),
        ms: Math.round(milliseconds * 10) / 10,
      };
      // Not the docs, nor the contract that the console loads.
      if (operation || refusal) keep?.(record);
      // Load balancers ask every few seconds.
      const level = unready === undefined ? (isProbe(record.path) ? 'debug' : 'info') : 'warn';
      const account = selection?.kind === 'one' ? selection.id : undefined;
      log[level]({ ...record, keyPair: caller?.keyPairId, account });
    });
    next();
  };

// Traces a request: the trace of the caller is in its log lines, and goes on in the webhooks that it causes.

/** Made by upkeep/tracing.ts. */
export interface RequestTracing {
  /** `given` is the header `traceparent`. */
  beginRequest: (given: string | undefined) => {
    /** Undefined when neither the caller nor an SDK began a trace. */
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
