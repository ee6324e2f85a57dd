// The types of tables, for Kysely. The table.ts of a resource adds its own to them. `rate_limits` and `applied_migrations` have no
// types: only raw SQL uses them.
export interface Tables {
  settings: { name: string; value: string };
}
