/** Ends a start or a command with its message, which tells the operator what to do. Any other error is printed as a bug. */
export class OperatorFault extends Error {
  /** The exit code of the process. It is 2 for wrong usage of a command. */
  readonly exitCode: number = 1;
}

/** The settings are wrong, so a restart without a change of them fails again. The exit code is EX_CONFIG of sysexits.h. */
export class ConfigurationFault extends OperatorFault {
  override readonly exitCode = 78;
}

/** The database did not answer in time. Whether it carried out the last statement is unknown. */
export class DatabaseTimeout extends Error {}

/** A merchant account or a key pair has so much under way that this request of it found no place in time. */
export class Overloaded extends DatabaseTimeout {}

/** By code, or by message where pg has no code. What was not committed has changed nothing. PgBouncer reports it in class 08. */
const lost = /^((08...|57P01|57P02|ECONNRESET|EPIPE)$|Connection terminated|Client .+ not queryable$)/;

/**
 * The database is away, does not answer in time, or has no room: the same request may succeed later. All else is a fault of ours:
 * wrong rights, passwords and tables stay wrong, and four deadlocks in a row come from a wrong order of locks.
 */
const outages = [
  lost,
  /^57P0[35]$/, // it starts, stops or recovers; it has ended an idle session
  /^(connect|getaddrinfo|read|write) E/, // nobody listens there, or the network is down
  /^another program has the port/, // the embedded database has ended
  /^timeout (exceeded|expired)/, // no connection became free in time, or none was made
  /^(57014|25P04|55P03)$/, // a statement, a transaction or its wait for a lock took too long
  /^(53[123]00|58030)$/, // its disk is full, or fails; it has no memory, or no connection, left
  /^25006$/, // it is read-only: a failover is under way, or this is a standby
];

const isOf = (kinds: RegExp[], error: unknown) =>
  kinds.some((kind) => kind.test(codeOf(error) ?? '') || kind.test(reasonOf(error)));

export const isConnectionLost = (error: unknown): boolean => isOf([lost], error);

/** Whether the caller is told to come back later. */
export const isOutage = (error: unknown): boolean => error instanceof DatabaseTimeout || isOf(outages, error);

export function codeOf(error: unknown): string | undefined {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

/** The message of an error. `localhost` has several addresses; if all fail, it is an AggregateError without one. */
export const reasonOf = (error: unknown): string =>
  error instanceof AggregateError && error.message === ''
    ? error.errors.map(reasonOf).join(', ')
    : error instanceof Error
      ? error.message
      : String(error);
