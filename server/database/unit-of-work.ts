// A unit of work: one database transaction with its outbox inside. Everything that changes state takes one, so a change and
// its event are committed together or not at all.
import type { EventName, EventPayload } from '../../generated/operations.ts';
import { inTransaction, inTransactionOnce, type Db, type Tx } from './database.ts';

/** Enough for changes that have no events. */
export interface Work {
  readonly db: Tx;
  readonly now: Date;
}

export interface UnitOfWork extends Work {
  /** For links in events. */
  readonly publicUrl: string;
  /** Stores an event for its subscribers, in this transaction. Undefined in a unit that was made silent. */
  readonly publish:
    | (<Name extends EventName>(
        name: Name,
        account: string,
        target: Target<Name>,
        /** ID of a subscription, if the others shall not get it. */
        only?: string,
      ) => Promise<Published>)
    | undefined;
}

export type Target<Name extends EventName> = EventPayload<Name>['target'];

export interface Published {
  /** Of the event. */
  id: string;
  /** How many subscriptions it goes to. */
  deliveries: number;
}

/** Where events go: events/outbox.ts. */
export type Outbox = (
  tx: Tx,
  name: EventName,
  account: string,
  target: object,
  at: Date,
  only?: string,
) => Promise<Published>;

/** `on` is where its transaction runs, if not on the database that the units were made for. */
export type InUnitOfWork = <T>(work: (unit: UnitOfWork) => Promise<T>, on?: Db) => Promise<T>;

export interface UnitOfWorkOptions {
  db: Db;
  outbox: Outbox;
  publicUrl: () => string;
  now: () => Date;
  /** Called after the commit of a unit that has published something for a subscription. */
  onPublished?: (() => void) | undefined;
  /** False for work that reads a stream: it cannot be repeated. */
  isRepeatable?: boolean;
}

/**
 * Commits when `work` is done, rolls back when it throws. After a deadlock and the like all of `work` is repeated, so it must
 * change nothing but the database, and call no provider.
 */
export const createUnitOfWork =
  ({ db, outbox, publicUrl, now, onPublished, isRepeatable = true }: UnitOfWorkOptions): InUnitOfWork =>
  async (work, on = db) => {
    let deliveries = 0;
    const result = await (isRepeatable ? inTransaction : inTransactionOnce)(on, (tx) => {
      const at = now();
      deliveries = 0;
      return work({
        db: tx,
        now: at,
        publicUrl: publicUrl(),
        publish: async (name, account, target, only) => {
          const published = await outbox(tx, name, account, target, at, only);
          deliveries += published.deliveries;
          return published;
        },
      });
    });
    if (deliveries > 0) onPublished?.();
    return result;
  };

/** For changes that have no events. It is repeated like a unit of work. */
export const inWork = <T>(db: Db, work: (unit: Work) => Promise<T>): Promise<T> =>
  inTransaction(db, (tx) => work({ db: tx, now: new Date() }));

/** Why subscribers hear nothing of a change. */
type Silence = 'imported without --events' | 'sample data' | 'seeded';

/** The same unit of work without events. The reason is for the reader of the code. */
export const silently = (work: Work, _reason: Silence): UnitOfWork => ({
  ...work,
  publicUrl: '',
  publish: undefined,
});
