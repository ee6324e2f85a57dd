// What the compiler says, in parts.

export interface Place {
  file: string;
  line: string;
  column: string;
  /** The code of the fault, and what is wrong. */
  said: string;
}

export function placeOf(fault: string): Place {
  const [, file = '', line = '', column = '', said = ''] =
    /^([^(\s]+)\((\d+),(\d+)\): error (.*)/.exec(fault) ?? [];
  return { file, line, column, said };
}

export const didYouMean = (name: string | undefined): string =>
  name === undefined || name === '' ? '' : ` Did you mean '${name}'?`;
