/** Ends a start or a command with its message, which tells the operator what to do. Any other error is printed as a bug. */
export class OperatorFault extends Error {
  /** The exit code of the process. It is 2 for wrong usage of a command. */
  readonly exitCode: number = 1;
}

/** The settings are wrong, so a restart without a change of them fails again. The exit code is EX_CONFIG of sysexits.h. */
export class ConfigurationFault extends OperatorFault {
  override readonly exitCode = 78;
}

/** A merchant account or a key pair has so much under way that this request of it found no place in time. */
export class Crowded extends Error {}

/** The code of an error of PostgreSQL or of the system. */
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
