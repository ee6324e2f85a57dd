// Idempotency-Key: a write that is repeated with the same key gets the first answer again. The service and the mock use this;
// they differ in where answers are kept: `kept` is that of the request.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { ApiError, errorBody } from '../errors.ts';
import type { Selection } from '../handlers/deps.ts';
import {
  isKept,
  keepKeyMilliseconds,
  requestFingerprint,
  slotOf,
  type Claim,
  type Keyed,
  type KeptAnswers,
  type Known,
  type SentAnswer,
} from '../resources/idempotency-keys/rules.ts';
import { allAccounts, noAccount } from '../rules/accounts.ts';
import { createSingleFlight } from '../rules/async.ts';
import type { DigestKeys } from '../secrets/derive-keys.ts';

const keyHeader = 'idempotency-key';
const replayedHeader = 'Idempotency-Replayed';

/** Undefined for an operation that takes no key, and for a request without one. */
export async function keyedBy(
  /** Null: of the installation. */
  keysOf: (account: string | null) => Promise<DigestKeys>,
  { operation, selection }: { operation: { takesKey: boolean }; selection: Selection },
  keyPairId: string,
  { headers, method, url, query, body }: Request,
): Promise<Keyed | undefined> {
  const key = headers[keyHeader];
  if (!operation.takesKey || typeof key !== 'string') return undefined;
  const account =
    selection.kind === 'one' ? selection.id : selection.kind === 'many' ? allAccounts : noAccount;
  const [path = ''] = url.split('?', 1);
  const request = { method, path, query, body: body as unknown };
  const keys = await keysOf(selection.kind === 'one' ? selection.id : null);
  return {
    account,
    slot: slotOf(keys, { keyPairId, account }, key),
    fingerprint: requestFingerprint(keys, request),
  };
}

/** Keeps an answer with the change that it tells of. */
export type Keep<Unit> = (answer: SentAnswer, unit: Unit) => Promise<void>;

/** For one key pair, counted from its first refusal on. */
export const keptRefusals = {
  scope: 'kept refusals',
  limit: 10_000,
  windowSeconds: keepKeyMilliseconds / 1000,
};

/** How long a repeated request waits for the first one, and how often it looks. */
const waitMilliseconds = 5_000;
const lookMilliseconds = 100;

interface KeyedExchange<Unit> {
  kept: KeptAnswers<Unit>;
  keyed: Keyed;
  res: Response;
  /** Called when the key is known, before anybody is told whether the request is the same as the first one. May refuse it. */
  beforeTelling?: (isSame: boolean) => Promise<void>;
  /** Whether another refusal of this caller is kept. Each leaves a row, and a caller could send any number of new keys. */
  keepsRefusal?: () => Promise<boolean>;
}

/**
 * Runs `work`, or answers with what an earlier request with this key was answered. `work` may keep its answer itself, in
 * its unit of work; otherwise it is kept afterwards, and so is a refusal.
 */
export type Once<Unit> = (
  exchange: KeyedExchange<Unit>,
  work: (keep: Keep<Unit>) => Promise<SentAnswer>,
) => Promise<SentAnswer>;

export function createOnce<Unit>(): Once<Unit> {
  // One look for all requests that wait for the same key, however many there are.
  const look = createSingleFlight<Known | undefined>();
  const lookLater = (kept: KeptAnswers<Unit>, keyed: Keyed) =>
    look(keyed.slot, async () => {
      await sleep(lookMilliseconds);
      return kept.find(keyed);
    });

  const claimOrAnswer = async ({
    kept,
    keyed,
    beforeTelling,
  }: KeyedExchange<Unit>): Promise<Claim<Unit> | SentAnswer> => {
    const deadline = performance.now() + waitMilliseconds;
    for (;;) {
      const found = await kept.claim(keyed);
      if ('claim' in found) return found.claim;
      let known: Known | undefined = found.known;
      await beforeTelling?.(known.fingerprint === keyed.fingerprint);
      while (known) {
        if (known.fingerprint !== keyed.fingerprint) throw reused();
        if (known.answer === 'erased') return erasedAnswer();
        if (known.answer) return known.answer;
        if (performance.now() > deadline)
          throw new ApiError('server_error', { reason: 'another request with this key is still running' });
        known = await lookLater(kept, keyed);
      }
    }
  };

  return async (exchange, work) => {
    const { res } = exchange;
    // On every answer from here on, so that a client knows that the server understands keys.
    res.setHeader(replayedHeader, 'false');
    const found = await claimOrAnswer(exchange);
    if ('status' in found) {
      res.setHeader(replayedHeader, 'true');
      return found;
    }
    return carryOut(found, exchange, work);
  };
}

async function carryOut<Unit>(
  claim: Claim<Unit>,
  { keepsRefusal = () => Promise.resolve(true) }: KeyedExchange<Unit>,
  work: (keep: Keep<Unit>) => Promise<SentAnswer>,
): Promise<SentAnswer> {
  const done = { byWork: false };
  try {
    const answer = await work(async (sent, unit) => {
      await claim.keep(sent, unit);
      done.byWork = true;
    });
    if (done.byWork) return answer;
    if (isKept(answer.status)) await claim.keep(answer);
    else await claim.release();
    return answer;
  } catch (error) {
    const refusal = keptRefusalOf(error);
    // If this fails too, the claim lapses by itself.
    const giveBack = () => claim.release().catch(() => undefined);
    if (!refusal) await giveBack();
    else
      try {
        await ((await keepsRefusal()) ? claim.keep(refusal) : claim.release());
      } catch (fault) {
        await giveBack();
        throw fault;
      }
    throw error;
  }
}

function keptRefusalOf(error: unknown): SentAnswer | undefined {
  if (!(error instanceof ApiError) || !isKept(error.status)) return undefined;
  const { code, status, facts } = error;
  return { status, headers: facts.headers ?? {}, text: JSON.stringify(errorBody(code, facts)) };
}

/** What the first request stored is gone; carried out again, it would be stored again. */
const erasedAnswer = (): SentAnswer => ({
  status: 404,
  headers: {},
  text: JSON.stringify(errorBody('not_found')),
});

const reused = () =>
  new ApiError('unprocessable', {
    detail: [
      {
        loc: ['header', keyHeader],
        msg: 'was used for a request with another path or body',
        type: 'value_error.idempotency_key.reused',
      },
    ],
  });
