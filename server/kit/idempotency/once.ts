// Idempotency-Key: a write that is repeated with the same key gets the first answer again. A request with a key
//   1. claims it. If another request has claimed it before, this one waits for that answer and sends the same;
//   2. is carried out. Its answer is kept in the transaction of its change: see `beforeCommit` in answer.ts;
//   3. if it is refused, keeps the refusal after the rollback. After any other failure it gives the claim back.
// The service and the mock use this; they differ in where answers are kept. See docs/decisions/0011-idempotency-keys.md.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { ApiError, errorBody } from '../errors.ts';
import type { Selected, Validated } from '../http/known.ts';
import { allAccounts, noAccount } from '../rules/accounts.ts';
import { createSingleFlight } from '../rules/async.ts';
import type { DigestKeys } from '../secrets/derive-keys.ts';
import {
  isKept,
  keepKeySeconds,
  requestFingerprint,
  slotOf,
  type Claim,
  type KeptAnswer,
  type KeptAnswers,
  type SentAnswer,
} from './rules.ts';

const keyHeader = 'idempotency-key';
const replayedHeader = 'Idempotency-Replayed';

/** For operations that take a key. Undefined for a request without one. */
export async function claimOf(
  /** Null: of the installation. */
  keysOf: (account: string | null) => Promise<DigestKeys>,
  { selection, input: { query, body } }: Selected & Validated,
  keyPairId: string,
  { headers, method, url }: Request,
): Promise<Claim | undefined> {
  const key = headers[keyHeader];
  if (typeof key !== 'string') return undefined;
  const account =
    selection.kind === 'one' ? selection.id : selection.kind === 'many' ? allAccounts : noAccount;
  const [path = ''] = url.split('?', 1);
  const keys = await keysOf(selection.kind === 'one' ? selection.id : null);
  return {
    id: randomUUID(),
    account,
    slot: slotOf(keys, { keyPairId, account }, key),
    fingerprint: requestFingerprint(keys, { method, path, query, body }),
  };
}

/** How many refusals of one key pair are kept, counted from its first one on. */
export const refusalLimit = { scope: 'kept refusals', limit: 10_000, windowSeconds: keepKeySeconds };

const waitMilliseconds = 5_000;
const lookMilliseconds = 100;

/** `unit` is the unit of work of the answer, if it has one. */
export type KeepAnswer<Unit> = (answer: SentAnswer, unit?: Unit) => Promise<void>;

interface KeyedRequest<Unit> {
  kept: KeptAnswers<Unit>;
  claim: Claim;
  res: Response;
  /** Called when the key is known, before anybody is told whether the request is the same as the first one. May refuse it. */
  beforeTelling?: (isRepeated: boolean) => Promise<void>;
  /** Whether another refusal of this caller is kept. Each leaves a row, and a caller could send any number of new keys. */
  keepsRefusal?: () => Promise<boolean>;
  /** Carries the request out, and hands its answer to `keepAnswer` before it commits. A refusal that it throws is kept afterwards. */
  work: (keepAnswer: KeepAnswer<Unit>) => Promise<SentAnswer>;
}

/** Makes a function that does the work of a request, or repeats the answer to an earlier request with the same key. */
export function createOnce<Unit>(): (request: KeyedRequest<Unit>) => Promise<SentAnswer> {
  // One look for all requests that wait for the same key, however many there are.
  const look = createSingleFlight<KeptAnswer | undefined>();
  const lookLater = ({ kept, claim }: KeyedRequest<Unit>) =>
    look(claim.slot, async () => {
      await sleep(lookMilliseconds);
      return kept.find(claim);
    });

  /** Keys of requests that this process is answering. Others with such a key look first: to claim it, they would have to write. */
  const underWay = new Set<string>();

  /** `claimed`: the key is this request's, which must be carried out. Otherwise the answer to an earlier one. */
  const claimOrFind = async (
    request: KeyedRequest<Unit>,
    looksFirst: boolean,
  ): Promise<'claimed' | SentAnswer> => {
    const { kept, claim, beforeTelling } = request;
    const deadline = performance.now() + waitMilliseconds;
    for (;;) {
      const seen = looksFirst ? await lookLater(request) : undefined;
      const found = seen ?? (await kept.claim(claim));
      if (found === 'claimed') return 'claimed';
      await beforeTelling?.(found.fingerprint === claim.fingerprint);
      for (let known: KeptAnswer | undefined = found; known; known = await lookLater(request)) {
        if (known.fingerprint !== claim.fingerprint) throw reused();
        if (known.answer === 'erased') return erasedAnswer();
        if (known.answer) return known.answer;
        if (performance.now() > deadline)
          throw new ApiError('gateway_timeout', { reason: 'another request with this key is still running' });
      }
      // The other request gave its claim back, or it lapsed: this one may claim the key now.
    }
  };

  return async (request) => {
    const { res, claim } = request;
    // On every answer from here on, so that a client knows that the server understands keys.
    res.setHeader(replayedHeader, 'false');
    const { slot } = claim;
    const isFirst = !underWay.has(slot);
    underWay.add(slot);
    try {
      const earlier = await claimOrFind(request, !isFirst);
      if (earlier === 'claimed') return await carryOut(request);
      res.setHeader(replayedHeader, 'true');
      return earlier;
    } finally {
      if (isFirst) underWay.delete(slot);
    }
  };
}

async function carryOut<Unit>(request: KeyedRequest<Unit>): Promise<SentAnswer> {
  const { kept, claim, work } = request;
  const keepAnswer: KeepAnswer<Unit> = (answer, unit) =>
    isKept(answer.status) ? kept.keep(claim, answer, unit) : kept.release(claim);
  try {
    return await work(keepAnswer);
  } catch (error) {
    await keepRefusal(request, error);
    throw error;
  }
}

/** After the rollback. A failure that is no refusal frees the key, so that the request can be tried again. */
async function keepRefusal<Unit>(
  { kept, claim, keepsRefusal }: KeyedRequest<Unit>,
  error: unknown,
): Promise<void> {
  // If this fails too, the claim lapses by itself.
  const giveBack = () => kept.release(claim).catch(() => undefined);
  const refusal = keptRefusalOf(error);
  if (!refusal) {
    await giveBack();
    return;
  }
  try {
    const isKeeping = (await keepsRefusal?.()) ?? true;
    await (isKeeping ? kept.keep(claim, refusal) : kept.release(claim));
  } catch (fault) {
    await giveBack();
    throw fault;
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
