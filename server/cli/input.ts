// What must never be an argument, where other users of the machine could read it, comes on standard input.
import { Refused } from './output.ts';

export async function readSecretLine(what: string): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write(`${what}: `);
  // A pipe that nobody writes to would look like a command that hangs.
  const hint = setTimeout(() => {
    process.stderr.write(`Waiting for a line on standard input (${what}); if there is none: </dev/null\n`);
  }, 2_000);
  let text = '';
  try {
    for await (const chunk of process.stdin.setEncoding('utf8')) {
      text += chunk as string;
      if (text.includes('\n')) break;
      if (text.length > 1_000) throw new Refused(`${what} is too long.`);
    }
  } finally {
    clearTimeout(hint);
  }
  return text.split('\n', 1)[0]?.trim() ?? '';
}
