// Every call of a provider goes through here. It is code of others: it may take too long, and its errors may quote the card that it was
// given. So each call has a deadline, and an error is replaced by one without card data before anybody logs, stores or shows it.
import { withDeadline } from '../kit/rules/async.ts';
import { createMask } from './mask.ts';

export const providerNames = ['giftCards', 'verifyCard', 'describeCard'] as const;
export const callOutcomes = ['answered', 'timed_out', 'failed'] as const;
type ProviderName = (typeof providerNames)[number];
type CallOutcome = (typeof callOutcomes)[number];
export type NoteCall = (provider: ProviderName, outcome: CallOutcome) => void;

export interface ProviderCall {
  provider: ProviderName;
  /** Number, security code, PIN: what must not come back in an error. */
  secrets: readonly string[];
  note: NoteCall | undefined;
}

/** `read` throws if the answer cannot be used. That is a failure like any other. */
export async function callProvider<Answer, Result>(
  { provider, secrets, note }: ProviderCall,
  call: (signal: AbortSignal) => Promise<Answer>,
  read: (answer: Answer) => Result,
): Promise<Result> {
  try {
    // In an async function, because a provider may throw before it returns a promise, or return none.
    const result = read(await withDeadline(async (signal) => await call(signal)));
    note?.(provider, 'answered');
    return result;
  } catch (error) {
    const failure = cleanError(error, secrets);
    note?.(provider, isTimeout(failure) ? 'timed_out' : 'failed');
    throw failure;
  }
}

const timeout = 'TimeoutError';
export const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === timeout;

// What is shown of an error. More is read, so that a value at the end is found before it is cut.
const longest = { name: 50, message: 1_000, stack: 10_000, read: 20_000 };

/** V8 quotes ten characters of what is no JSON, which may be half a card number: the mask does not find halves. */
const quoteOfAnswer = /, (?:\.{3})?"[^]{0,50}?"(?:\.{3})?(?= is not valid JSON)/g;

/** A new error with name, message and stack of the given one and its causes, without the secrets and without any other property. */
export function cleanError(error: unknown, secrets: readonly string[]): Error {
  const mask = createMask(secrets);
  const clean = (text: string, length: number) =>
    mask(text.slice(0, longest.read).replace(quoteOfAnswer, '')).slice(0, length);
  const failure = new Error('it threw an error that cannot be read');
  // Its getters may throw.
  try {
    const errors = [...withCauses(error)];
    const messages = errors
      .map(({ message }) => textOf(message))
      .filter((message, index, all) => !all.slice(0, index).some((before) => before.includes(message)));
    const nothing = errors.length > 0 ? 'it threw an error without a message' : 'it threw what is no error';
    const given = textOf(errors[0]?.name);
    const [name, message, stack] = [
      // A PIN may be a part of this name.
      given === timeout ? given : clean(given, longest.name),
      clean(messages.filter(Boolean).join(': ') || nothing, longest.message),
      clean(errors.map(({ stack }) => textOf(stack)).join('\ncaused by: '), longest.stack),
    ];
    Object.assign(failure, { name, message, stack });
  } catch {
    // Then there is nothing to tell.
  }
  return failure;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const mostCauses = 10;

/** What an error has, although its properties may be anything. */
type Thrown = Partial<Record<keyof Error, unknown>>;

function* withCauses(error: unknown, seen = new Set<unknown>()): Generator<Thrown> {
  if (!(error instanceof Error) || seen.has(error) || seen.size >= mostCauses) return;
  seen.add(error);
  yield error;
  yield* withCauses(error.cause, seen);
  // Anything may be in `errors`, also what never ends.
  const errors: unknown = error instanceof AggregateError ? error.errors : undefined;
  if (Array.isArray(errors))
    for (const one of errors.slice(0, mostCauses) as unknown[]) yield* withCauses(one, seen);
}

/** A text of a provider as it is stored, or shown to callers. PostgreSQL can store neither U+0000 nor half a character. */
export const shortText = (text: string): string =>
  text
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, longestText)
    .replace(/\p{Cs}/gu, '');

export const longestText = 200;
