import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { partialContextOf } from './context.ts';
import type { Noted } from './desk/recent.ts';
import { unknownPath } from './refusal.ts';

/** Logs one line per request when it ends. It has the path of the contract, because the URL may contain identifiers. */
export const createAccessLog =
  (log: Logger, note?: (request: Noted) => void): RequestHandler =>
  (req, res, next) => {
    const begun = performance.now();
    res.on('close', () => {
      const { requestId, operation, caller, refusal } = partialContextOf(res);
      const record = {
        requestId,
        method: req.method,
        path: operation?.path ?? unknownPath(req.originalUrl),
        status: res.writableFinished ? res.statusCode : ('aborted' as const),
        ...refusal,
        ms: Math.round((performance.now() - begun) * 10) / 10,
      };
      // Not the docs, nor the contract that the console loads.
      if (operation || refusal) note?.(record);
      log.info({ ...record, keyPair: caller?.keyPairId });
    });
    next();
  };
