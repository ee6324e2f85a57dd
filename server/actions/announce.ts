// The only place that makes announcements, which the store demands for every change of a resource with events.
import type { EventName } from '../../generated/operations.ts';
import { makeAnnouncement, type Announcement } from '../store/announcement.ts';
import type { Target, UnitOfWork } from './unit-of-work.ts';

export const announce = <Name extends EventName, Row extends { merchant_account_id: string }>(
  { publish }: UnitOfWork,
  name: Name,
  present: (row: Row) => Target<Name> | Promise<Target<Name>>,
): Announcement<Row> =>
  makeAnnouncement(
    publish &&
      (async (row) => {
        await publish(name, row.merchant_account_id, await present(row));
      }),
  );
