// Errors that nobody handles, such as a rejected promise that a provider forgot to await. Node would print them with everything that
// they quote, which may be a card number.
import { codeOf } from '../faults.ts';

export interface Uncaught {
  type: string;
  code: string | undefined;
  /** Where it was made, without its message. */
  stack: string;
}

/** Tells type and place of such an error, and ends the process with 1: nobody knows what it has left undone. */
export function endOnUncaught(tell: (uncaught: Uncaught) => void): void {
  const end = (error: unknown) => {
    try {
      tell(readUncaught(error));
    } finally {
      process.exit(1);
    }
  };
  process.on('uncaughtException', end).on('unhandledRejection', end);
}

export const uncaughtText = (message: string, { type, code, stack }: Uncaught): string =>
  [`${message}: ${type}${code === undefined ? '' : ` ${code}`}`, stack].filter(Boolean).join('\n');

function readUncaught(error: unknown): Uncaught {
  try {
    const { name } = (Object(error) as object).constructor;
    const code = codeOf(error) ?? '';
    return {
      type: typeof error === 'object' && /^[A-Za-z_$]{1,50}$/.test(name) ? name : typeof error,
      code: /^[A-Z_]{2,40}$/.test(code) ? code : undefined,
      stack: error instanceof Error ? framesOf(error) : '',
    };
  } catch {
    // Its properties may throw.
    return { type: typeof error, code: undefined, stack: '' };
  }
}

/**
 * From the frames themselves, because lines of a message may look like frames. V8 forgets them once somebody has read the stack as text;
 * then nothing is shown.
 */
function framesOf(error: Error): string {
  let read = '';
  // It is not set back, because the process ends.
  Error.prepareStackTrace = (_error, frames) => {
    const lines = frames.map((frame) => {
      const place = [frame.getFileName(), frame.getLineNumber(), frame.getColumnNumber()].join(':');
      return `    at ${frame.getFunctionName() ?? '<anonymous>'} (${place})`;
    });
    read = lines.join('\n');
  };
  // Its value is not used: somebody may have put anything there.
  void error.stack;
  return read;
}
