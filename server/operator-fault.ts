/** Ends a start or a command with its message, which tells the operator what to do. Any other error is printed as a bug. */
export class OperatorFault extends Error {
  /** Of the process. Wrong usage of a command is 2. */
  readonly exitCode: number = 1;
}
