import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { partialContextOf } from './context.ts';
import { unknownPath } from './refusal.ts';

/** Called when a request has ended, with the ID of its operation. */
export type NoteRequest = (
  operation: string | undefined,
  status: number | 'aborted',
  milliseconds: number,
) => void;

/** Logs one line per request when it ends. It has the path of the contract, because the URL may contain identifiers. */
export const createAccessLog =
  (log: Logger, note?: NoteRequest): RequestHandler =>
  (req, res, next) => {
    const begun = performance.now();
    res.on('close', () => {
      const { requestId, traceId, operation, caller, refusal } = partialContextOf(res);
      const status = res.writableFinished ? res.statusCode : 'aborted';
      const milliseconds = performance.now() - begun;
      note?.(operation?.id, status, milliseconds);
      log.info({
        requestId,
        traceId,
        method: req.method,
        path: operation?.path ?? unknownPath(req.originalUrl),
        status,
        ...refusal,
        ms: Math.round(milliseconds * 10) / 10,
        keyPair: caller?.keyPairId,
      });
    });
    next();
  };
