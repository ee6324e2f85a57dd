// `Prefer: code=…`, `example=…`, `delay=…`, `retry-after=…` (RFC 7240): the caller selects one of the contract's responses, and when it
// comes. A response that the contract does not have gives 400 and the list of those it has. RFC 7240: other preferences are ignored.
import { ApiError } from '../server/kit/errors.ts';
import { longestDelay } from './http/delay.ts';
import type { MockOperation } from './operations.ts';
import type { ResponseChoice } from './prism.ts';

export interface Preference {
  /** The value of the `Preference-Applied` header. */
  applied: string;
  delayMilliseconds: number;
  /** Undefined if the request leads to its response as usual. */
  choice: (ResponseChoice & { retryAfter: string | undefined }) | undefined;
}

const names = ['code', 'example', 'delay', 'retry-after'];

export function readPreference(header: string | undefined, operation: MockOperation): Preference | undefined {
  const all = parse(header ?? '');
  // Prism makes up values for it. Ignored, it would look as if these were made up, too.
  if (all.some(([name, value]) => name === 'dynamic' && value !== 'false'))
    throw unavailable('dynamic=true', choicesOf(operation, undefined));
  const given = known(all);
  if (given.length === 0) return undefined;
  const { delay = '0', ...chosen } = Object.fromEntries(given) as Record<string, string | undefined>;
  if (!/^\d{1,5}$/.test(delay) || Number(delay) > longestDelay)
    throw unavailable(`delay=${delay}`, [`delay=MILLISECONDS, 0 to ${longestDelay}`]);
  return {
    applied: given.map(([name, value]) => `${name}=${value}`).join(', '),
    delayMilliseconds: Number(delay),
    choice: readChoice(chosen, operation),
  };
}

function readChoice(
  { code, example, 'retry-after': retryAfter }: Record<string, string | undefined>,
  operation: MockOperation,
): Preference['choice'] {
  // Compared as text, because Number('2e2') is 200.
  const status = operation.statuses.find((one) => String(one) === code);
  if (code !== undefined && status === undefined)
    throw unavailable(
      `code=${code}`,
      operation.statuses.map((one) => `code=${one}`),
    );
  if (retryAfter !== undefined && !((status === 429 || status === 504) && /^\d{1,4}$/.test(retryAfter)))
    throw unavailable(
      `retry-after=${retryAfter}`,
      [429, 504].map((one) => `code=${one}, retry-after=SECONDS`),
    );
  if (example === undefined) return status === undefined ? undefined : { status, retryAfter };
  const found = operation.responseExamples.find(
    (response) => response.example === example && (status === undefined || response.status === status),
  );
  if (!found)
    throw unavailable(`${code ? `code=${code}, ` : ''}example=${example}`, choicesOf(operation, status));
  return { status: found.status, example, retryAfter };
}

/** Whether the header selects nothing, which may be a misspelling: `cod=401`, `401`. */
export const isIgnored = (header: string | undefined): boolean =>
  header !== undefined && known(parse(header)).length === 0;

const parse = (header: string): [name: string, value: string][] =>
  header
    .split(/[,;]/)
    .map((part) => /^\s*([\w-]+)\s*=\s*"?([^"]*?)"?\s*$/.exec(part))
    .map((match): [string, string] => [match?.[1]?.toLowerCase() ?? '', match?.[2] ?? '']);

const known = (preferences: ReturnType<typeof parse>) => preferences.filter(([name]) => names.includes(name));

const choicesOf = ({ responseExamples }: MockOperation, wanted: number | undefined) =>
  responseExamples
    .filter(({ status }) => wanted === undefined || status === wanted)
    .map(({ status, example }) => `code=${status}, example=${example}`);

function unavailable(given: string, choices: string[]): ApiError {
  const message = `asks for ${given}, which does not exist; choose ${choices.join(' | ')}`;
  return new ApiError('bad_request', {
    reason: `no response for Prefer: ${given}`,
    details: [{ location: 'header', pointer: '/prefer', message, type: 'value_error.prefer' }],
  });
}
