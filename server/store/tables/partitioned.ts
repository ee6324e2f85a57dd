// The tables that are partitioned by time.
export interface Partitioned {
  table: 'events' | 'deliveries' | 'delivery_attempts' | 'idempotency_answers';
  /** The column that decides the partition. */
  time: 'created_at' | 'at';
}

export const eventTables = {
  events: { table: 'events', time: 'created_at' },
  deliveries: { table: 'deliveries', time: 'created_at' },
  attempts: { table: 'delivery_attempts', time: 'at' },
} as const satisfies Record<string, Partitioned>;

export const answers = { table: 'idempotency_answers', time: 'created_at' } as const satisfies Partitioned;
