import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { partialContextOf } from './context.ts';
import { unknownPath } from './refusal.ts';

/** Logs one line per request when it ends. It has the path of the contract, because the URL may contain identifiers. */
export const createAccessLog =
  (log: Logger): RequestHandler =>
  (req, res, next) => {
    const begun = performance.now();
    res.on('close', () => {
      const { requestId, operation, caller, refusal } = partialContextOf(res);
      log.info({
        requestId,
        method: req.method,
        path: operation?.path ?? unknownPath(req.originalUrl),
        status: res.writableFinished ? res.statusCode : 'aborted',
        ...refusal,
        ms: Math.round((performance.now() - begun) * 10) / 10,
        keyPair: caller?.keyPairId,
      });
    });
    next();
  };
