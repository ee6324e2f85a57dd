// How a change becomes an event. Every function that changes a resource with events requires an announcement, so a change
// that forgets its event does not compile. Announcements are made here only, from a unit of work.
import type { EventName } from '../../generated/operations.ts';
import type { Target, UnitOfWork } from '../database/unit-of-work.ts';

declare const isAnnouncement: unique symbol;

export interface Announcement<Row> {
  /** Stores the event of a changed row in the same transaction; undefined in a unit of work without events (`silently`). */
  readonly tell: ((row: Row) => Promise<void>) | undefined;
  readonly [isAnnouncement]: true;
}

export const announce = <Name extends EventName, Row extends { merchant_account_id: string }>(
  { publish }: Pick<UnitOfWork, 'publish'>,
  name: Name,
  present: (row: Row) => Target<Name> | Promise<Target<Name>>,
): Announcement<Row> => {
  const tell =
    publish &&
    (async (row: Row) => {
      await publish(name, row.merchant_account_id, await present(row));
    });
  return { tell } as Announcement<Row>;
};
