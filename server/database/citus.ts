// Citus is PostgreSQL whose merchant accounts are spread over several servers: see docs/scaling.md. A statement that names one account
// is sent to its server as it is. The few that name several accounts, or none, ask here which engine they have.
import { PostgresAdapter } from 'kysely';
import type { Db } from './unit-of-work.ts';

export class CitusAdapter extends PostgresAdapter {}

/** Of a pool and of its transactions. */
export const isCitus = (db: Db): boolean => db.getExecutor().adapter instanceof CitusAdapter;
