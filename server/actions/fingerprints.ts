// Rewrites fingerprints of older keys and of the form of before 1.2, while the service runs: first the cards of an account,
// which tell what each fingerprint became, then the snapshots in its transactions, then its stored events. What belongs to no
// known card becomes null. Continues where it stopped.
import { shownFingerprint } from '../domain/fingerprints.ts';
import type { Place, Sealer } from '../domain/vault.ts';
import { inTransaction, type Db, type Tx } from '../store/database.ts';
import {
  beginRewrite,
  listOutdatedAccounts,
  lockOutdatedCards,
  noteProgress,
  rewriteEvents,
  rewriteTransactions,
  saveFingerprint,
  saveMove,
  type OutdatedCard,
  type Progress,
} from '../store/fingerprints.ts';
import { withLock } from '../store/locks.ts';
import { findSealer } from '../store/sealing.ts';
import type { CardSecrets } from './payment-methods.ts';

export interface RewriteOptions {
  /** Versions besides those of older keys, of keys that are lost. */
  otherVersions?: readonly string[];
  /** Called after each batch. */
  onProgress: (state: { account: string; phase: Progress['phase']; rewritten: number }) => void;
  /** A card whose number cannot be opened keeps its fingerprint. */
  onFault: (cardId: string, error: unknown) => void;
  isStopping: () => boolean;
}

/** Returns how many cards, transactions and events were changed; undefined when another process is doing it. */
export async function rewriteFingerprints(
  db: Db,
  secrets: CardSecrets,
  options: RewriteOptions,
): Promise<number | undefined> {
  const { version } = secrets.fingerprints;
  const older = [...secrets.fingerprints.older, ...(options.otherVersions ?? [])];
  let total = 0;
  const result = await withLock(db, 'rewrite fingerprints', async () => {
    for (const account of await listOutdatedAccounts(db, version, older)) {
      let progress = await inTransaction(db, (tx) => beginRewrite(tx, account, version));
      while (progress.phase !== 'done' && !options.isStopping()) {
        const current = progress;
        const batch = await inTransaction(db, async (tx) => {
          const done = await rewriteBatch(tx, current, secrets, older, options.onFault);
          const next =
            done.after === undefined
              ? { ...current, phase: nextPhase[current.phase], after: null }
              : { ...current, after: done.after };
          await noteProgress(tx, next);
          return { next, rewritten: done.rewritten };
        });
        progress = batch.next;
        total += batch.rewritten;
        options.onProgress({ account, phase: current.phase, rewritten: total });
      }
    }
  });
  return result && total;
}

const nextPhase = { cards: 'transactions', transactions: 'events', events: 'done', done: 'done' } as const;

function rewriteBatch(
  tx: Tx,
  progress: Progress,
  secrets: CardSecrets,
  older: readonly string[],
  onFault: RewriteOptions['onFault'],
): Promise<{ rewritten: number; after: string | undefined }> {
  if (progress.phase === 'transactions') return rewriteTransactions(tx, progress, older);
  if (progress.phase === 'events') return rewriteEvents(tx, progress, older);
  return rewriteCards(tx, progress, secrets, older, onFault);
}

async function rewriteCards(
  tx: Tx,
  progress: Progress,
  secrets: CardSecrets,
  older: readonly string[],
  onFault: RewriteOptions['onFault'],
) {
  const { open } = await findSealer(tx, secrets.vault);
  const { cards, after } = await lockOutdatedCards(tx, progress, older);
  const account = progress.merchant_account_id;
  let rewritten = 0;
  for (const card of cards) {
    let made: ReturnType<typeof makeAnew>;
    try {
      made = makeAnew(account, card, secrets, open);
    } catch (error) {
      onFault(card.id, error);
      continue;
    }
    await saveFingerprint(tx, account, { id: card.id, ...made });
    const old = card.fingerprint ?? shownFingerprint(card.account_fingerprint);
    const fresh = card.status === 'failed' ? null : shownFingerprint(made.account_fingerprint);
    if (old !== null) await saveMove(tx, account, old, fresh);
    rewritten += 1;
  }
  return { rewritten, after };
}

function makeAnew(account: string, card: OutdatedCard, { fingerprints }: CardSecrets, open: Sealer['open']) {
  const place: Place = { purpose: 'card-number', owner: account, id: card.id };
  const make = (sealed: string | null | undefined) =>
    sealed ? fingerprints.make(account, open(sealed, place)) : undefined;
  return {
    account_fingerprint: make(card.number_sealed) ?? null,
    replacement_fingerprint: make(card.replacement?.number_sealed),
  };
}
