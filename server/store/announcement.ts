// How a change becomes an event. Every function that changes a resource with events requires an announcement, so a change
// that forgets its event does not compile. Only actions/announce.ts creates announcements, from a unit of work.

declare const isAnnouncement: unique symbol;

export interface Announcement<Row> {
  /** Stores the event of a changed row in the same transaction; undefined in a unit of work without events (`silently`). */
  readonly tell: ((row: Row) => Promise<void>) | undefined;
  readonly [isAnnouncement]: true;
}

export const makeAnnouncement = <Row>(tell: Announcement<Row>['tell']): Announcement<Row> =>
  ({ tell }) as Announcement<Row>;
