// What a change returns when there is something that it may not do: undefined if there is no such record, otherwise an outcome that
// `kind` tells apart. Nothing is told by a property that is there or not, by an empty list, or by false.

/** `taken`: its ID, or what else must be unique, belongs to another record. */
export type Made<Row> = { kind: 'made'; row: Row } | { kind: 'taken' };

export const madeUnlessTaken = <Row>(row: Row | undefined): Made<Row> =>
  row === undefined ? { kind: 'taken' } : { kind: 'made', row };
