// A provider is called before the unit of work, never inside a database transaction, and gets this long for a whole call.
import { isDoneWithin } from '../rules/async.ts';

export const deadlineMilliseconds = 5_000;

export class ProviderTimeout extends Error {}

/** Rejects with ProviderTimeout at the deadline, also when the provider ignores its signal. */
export async function withDeadline<T>(
  call: (signal: AbortSignal) => Promise<T>,
  milliseconds = deadlineMilliseconds,
): Promise<T> {
  const controller = new AbortController();
  const called = call(controller.signal);
  if (await isDoneWithin(milliseconds, called)) return called;
  controller.abort();
  throw new ProviderTimeout(`no answer within ${milliseconds} ms`);
}
