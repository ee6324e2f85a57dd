// What is kept of a request: its line in the log, and its trace.
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { parseJson } from '../../../client/json.ts';
import type { ApiError, Detail, ErrorCode, Unprocessable } from '../errors.ts';
import { maskCardNumbers } from '../rules/card-numbers.ts';
import type { RequestFeed } from './dashboard/feed.ts';
import { trailOf, type Refusal } from './known.ts';

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
      const { requestId, traceId, operation, caller, selection, refusal, unready, outage } = trailOf(res);
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
      // Not what is served from files.
      if (operation || refusal)
        keep?.({ ...record, operation: operation?.id, query: operation && shownQuery(req.originalUrl) });
      // Pages are many files, and load balancers ask every few seconds.
      const isPage = !operation && !refusal && status !== 'aborted' && ['GET', 'HEAD'].includes(req.method);
      const level = (unready ?? outage) === undefined ? (isPage ? 'debug' : 'info') : 'warn';
      const account = selection?.kind === 'one' ? selection.id : undefined;
      const message = outage === undefined ? undefined : 'the request failed';
      log[level]({ ...record, err: outage, keyPair: caller?.keyPairId, account }, message);
    });
    next();
  };

// Traces a request: the trace of the caller is in its log lines, and goes on in the webhooks that it causes.

/** Made by maintenance/tracing.ts. */
export interface RequestTracing {
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
    const trail = trailOf(res);
    trail.traceId = traceId;
    res.on('close', () => {
      end(trail.operation?.id, res.writableFinished ? res.statusCode : 'aborted');
    });
    run(next);
  };

// Why a request was refused, in words for the log. What comes from the caller may be anything, a card number in the wrong
// place included, so only words that look like names of ours are shown.

const mostFaults = 3;
const longestReason = 300;
const longestPath = 100;

// Words of letters, as snake_case, camelCase, kebab-case or the name of a header, with at most two digits. A random secret mixes
// capitals and digits in another way, and no part of a card number, no security code and no PIN is left.
const part = String.raw`(?:[A-Z]?[a-z]+(?:[A-Z][a-z]{2,})*|[A-Z]{1,3})\d?`;
const name = new RegExp(String.raw`^(?=.{1,40}$)(?!(?:.*\d){3})${part}(?:[_-]${part})*$`);
const position = /^\d{0,2}$/;

const shownWords = (path: string, isShown: (word: string) => boolean) =>
  path
    .split('/')
    .map((word) => (isShown(word) ? word : '…'))
    .join('/');

/** Keeps of a pointer to a fault: names of properties and positions in lists. */
const harmless = (pointer: string) => shownWords(pointer, (word) => name.test(word) || position.test(word));

export const unknownPath = (url: string): string => {
  const [path = ''] = url.split('?', 1);
  // The contract has no numbers in paths, so a number is something of the caller's.
  const isShown = (word: string) => word === '' || name.test(word);
  return shownWords(path.slice(0, longestPath), isShown) + (path.length > longestPath ? '…' : '');
};

/** For the sandbox's landing page, which its developer reads. Nothing of it is logged. */
export function shownQuery(url: string): string | undefined {
  const pairs = [...new URLSearchParams(url.split('?')[1])].map(([key, value]) => `${key}=${value}`);
  const masked = maskCardNumbers(pairs.join('&'), 'inside').replaceAll(/eyJ[\w-]+(\.[\w-]*)*/g, '[token]');
  return masked.slice(0, longestReason) || undefined;
}

export function refusalOf({ code, facts }: Pick<ApiError, 'code' | 'facts'>): Refusal {
  const faults = [
    ...(facts.details ?? []).map(({ pointer, message }) => [harmless(pointer), message]),
    ...(facts.detail ?? []).map(({ loc, msg }) => [harmless(loc.join('/')), msg]),
  ].map((words) => words.join(' ').trim());
  const more = faults.length > mostFaults ? [`and ${faults.length - mostFaults} more`] : [];
  const taken = facts.resourceId ? [`resource_id ${facts.resourceId}`] : [];
  const reason = facts.reason ?? [...faults.slice(0, mostFaults), ...more, ...taken].join('; ');
  return { code, reason: reason.slice(0, longestReason) || undefined };
}

interface SentError {
  code?: ErrorCode;
  details?: Detail[];
  detail?: Unprocessable[];
  resource_id?: string | null;
}

/** Why an earlier request with the same Idempotency-Key was refused. */
export function repeatedRefusal(body: string): Refusal {
  const { code = 'unprocessable', resource_id: resourceId = null, ...faults } = parseJson(body) as SentError;
  return refusalOf({ code, facts: { resourceId, ...faults } });
}
