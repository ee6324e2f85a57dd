// What to say about a database that cannot be used: where it is, and what to do, without user and password.
import { programName } from '../../../generated/operations.ts';
import { codeOf, ConfigurationFault, OperatorFault, reasonOf } from '../faults.ts';
import { guide } from '../guides.ts';
import { roleOf } from './url.ts';

/** The database cannot be used. The message is one sentence for the operator. */
export class DatabaseFault extends OperatorFault {}

export const readOnlyFault = (database: string): string =>
  `${database} is read-only, perhaps a standby. Point DATABASE_URL (or DATABASE_URL_FILE) to the primary.`;

export const diskFull = '53100';

/** One sentence for the operator, if PostgreSQL refused a statement because of how the database is set up, or for lack of space. */
export function setupFault(error: unknown, role = 'ROLE'): string | undefined {
  if (codeOf(error) === '25006') return readOnlyFault('The database');
  if (codeOf(error) === diskFull)
    return `The disk of the database is full: ${reasonOf(error)}. Free space there, and try again: see Health in ${guide('operating.md')}.`;
  if (codeOf(error) !== '42501') return undefined;
  return `The role of DATABASE_URL (or DATABASE_URL_FILE) lacks rights: ${reasonOf(error)}. It must own the database and its tables, or their owner runs ${programName} database migrate --grant ${role}: see "Two database roles" in ${guide('guides/operator.md')}.`;
}

export const nameRights =
  (url: string) =>
  (error: unknown): never => {
    const denied = [error, error instanceof Error ? error.cause : undefined].find(
      (one) => codeOf(one) === '42501',
    );
    const role = roleOf(url);
    if (denied === undefined || role === undefined) throw error;
    throw new DatabaseFault(setupFault(denied, role), { cause: denied });
  };

/** The database at this place answers no statement. What only a change of the settings mends is a fault of theirs. */
export function connectionFault(place: string, error: unknown): OperatorFault {
  const says = `The database at ${place} cannot be used: ${reasonOf(error)}.`;
  return /startup parameter/.test(reasonOf(error))
    ? new ConfigurationFault(`${says} ${poolerAdvice()}`, { cause: error })
    : new DatabaseFault(`${says} ${adviceFor(error)}`, { cause: error });
}

function adviceFor(error: unknown): string {
  switch (codeOf(error) ?? '') {
    case '53300':
      return `Raise this limit, or stop what else is connected: see Sizing in ${guide('operating.md')}.`;
    case 'ECONNREFUSED':
      return 'Is PostgreSQL running there? If not there, check DATABASE_URL (or DATABASE_URL_FILE).';
    case '3D000':
      return `Check DATABASE_URL (or DATABASE_URL_FILE), or create the database: see "Install on a server" in ${guide('guides/operator.md')}.`;
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return 'If its certificate is from an authority of your own, add sslrootcert=FILE to DATABASE_URL (or DATABASE_URL_FILE).';
    // Node does not say whether it is the one of the server or of an authority.
    case 'CERT_HAS_EXPIRED':
      return 'Renew the TLS certificate of the server there, or the one of its authority (sslrootcert), and let the server read it again. DATABASE_URL need not change.';
    default:
      return 'Check DATABASE_URL (or DATABASE_URL_FILE).';
  }
}

/** PgBouncer knows neither of these limits, and has no error code of its own for that. */
const poolerAdvice = (): string =>
  'A pooler refuses this: set DATABASE_POOLER=transaction, which also serves its session mode. In session mode only, it may have ' +
  `ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout instead: see Poolers in ${guide('operating.md')}.`;
