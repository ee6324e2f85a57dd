// What subscribers hear of a change. Every statement that changes a resource with events asks for one, so a change that says
// nothing of events does not compile. Only actions/announce.ts makes them, from a unit of work.

declare const isAnnouncement: unique symbol;

export interface Announcement<Row> {
  /** Stores the event of a changed row in its transaction; undefined when silence was asked for by name. */
  readonly tell: ((row: Row) => Promise<void>) | undefined;
  readonly [isAnnouncement]: true;
}

export const makeAnnouncement = <Row>(tell: Announcement<Row>['tell']): Announcement<Row> =>
  ({ tell }) as Announcement<Row>;
