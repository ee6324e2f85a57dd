/** Prints what the service logged about refused requests: if a test fails, or all of its lines with LOG_LEVEL. */
import pino from 'pino';
import { TestRunner, vi } from 'vitest';
import { createTerminalLine } from '../../server/kit/log/terminal.ts';

/** A test that sends hundreds of bad requests shows the last ones. */
const shownRequests = 10;
const refusedIn = new WeakMap<object, string[]>();

/** The answer does not say why a request failed; the log does, with the stack if it was a crash. */
export function explainIfTestFails(logs: readonly string[], requestId: string): void {
  const test = TestRunner.getCurrentTest();
  if (!test) return;
  const refused = refusedIn.get(test) ?? [];
  if (refused.push(requestId) > 1) return;
  refusedIn.set(test, refused);
  test.context.onTestFailed(async () => {
    const linesOf = (id: string) => logs.filter((line) => line.includes(`"requestId":"${id}"`));
    const shown = refused.slice(-shownRequests);
    // The line of a request is written when its connection is free again, which may be after the answer was read.
    const isLogged = (id: string) => linesOf(id).some((line) => line.includes('"ms":'));
    await vi.waitUntil(() => shown.every(isLogged)).catch(() => undefined);
    const lines = shown.flatMap(linesOf);
    if (lines.length > 0) console.error(`The log of the service says:\n${lines.map(readable).join('')}`);
  });
}

/** With LOG_LEVEL, prints the lines of that level and above. Without it, a service in a test is silent. */
export function printIfWanted(line: string): void {
  const wanted = pino.levels.values[process.env.LOG_LEVEL ?? 'silent'] ?? Infinity;
  if ((JSON.parse(line) as { level: number }).level >= wanted) console.log(readable(line).trimEnd());
}

const readable = createTerminalLine(false);
