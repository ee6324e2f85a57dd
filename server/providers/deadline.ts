// A provider is called before the unit of work, never inside a database transaction, and gets this long for a whole call.

export const deadlineMilliseconds = 5_000;

export class ProviderTimeout extends Error {}

/** Rejects with ProviderTimeout at the deadline, also when the provider ignores its signal. */
export async function withDeadline<T>(
  call: (signal: AbortSignal) => Promise<T>,
  milliseconds = deadlineMilliseconds,
): Promise<T> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new ProviderTimeout(`no answer within ${milliseconds} ms`));
      controller.abort();
    }, milliseconds);
  });
  try {
    return await Promise.race([call(controller.signal), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
