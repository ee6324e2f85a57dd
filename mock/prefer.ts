// What a caller asks for: one of the contract's responses, and when it comes. With `Prefer: code=…` (RFC 7240), with Prism's
// `?__code=…` for a browser, or beforehand with `mock.answer` (answers.ts). A response that the contract does not have gives 400 and
// the list of those it has. RFC 7240: other preferences are ignored.
import { ApiError, type Detail } from '../server/kit/errors.ts';
import type { Step } from '../server/kit/http/pipeline.ts';
import { longestDelay } from './http/delay.ts';
import type { MockOperation } from './operations.ts';
import type { ResponseChoice } from './prism.ts';

/** What was asked for, by the names of the preferences, and not judged yet. */
export interface Asked {
  given: Readonly<Partial<Record<(typeof names)[number], string>>>;
  /** For the log. */
  how: string;
  /** Where a faulty one stands. */
  at: (name: string) => Pick<Detail, 'location' | 'pointer'>;
}

export interface Choice extends Omit<ResponseChoice, 'seed'> {
  /** For made-up values. `any`: another one each time. */
  seed?: number | 'any' | undefined;
  retryAfter?: string | undefined;
  /** Instead of what Prism has. */
  body?: unknown;
}

/** Answers with made-up values, for callers that do not ask: `npm run mock -- --dynamic`. */
export interface Dynamic {
  seed: number | undefined;
}

export interface Preference {
  /** The value of the `Preference-Applied` header, and for the log. */
  says: string;
  delayMilliseconds: number | undefined;
  /** Undefined if the request leads to its response as usual. */
  choice: Choice | undefined;
  /** `dynamic=false` */
  isStatic: boolean;
}

const inHeader: Asked['at'] = () => ({ location: 'header', pointer: '/prefer' });
const inQuery: Asked['at'] = (name) => ({ location: 'query', pointer: `/__${name}` });

const names = ['code', 'example', 'dynamic', 'seed', 'delay', 'retry-after'] as const;

export const isPreference = (name: string): name is (typeof names)[number] =>
  names.some((one) => one === name);

export const largestSeed = 999_999_999;

/** What the request asks for: Prism's forms for a browser count only without the header, and are no part of the contract's query. */
export const readAsked: Step<object, { asked: Asked; ignored: boolean }> = (_known, req) => {
  const { prefer } = req.headers;
  const queried = req.url.includes('__') ? takeFromQuery(req) : {};
  if (prefer === undefined) return { asked: { given: queried, how: 'query', at: inQuery }, ignored: false };
  const given = parse(Array.isArray(prefer) ? prefer.join(',') : prefer);
  // It may be a misspelling: `cod=401`, `401`.
  return { asked: { given, how: 'Prefer', at: inHeader }, ignored: Object.keys(given).length === 0 };
};

function takeFromQuery(req: { url: string }): Asked['given'] {
  const [path = '', query = ''] = req.url.split(/\?(.*)/s);
  const parts = query.split('&');
  const isMeant = (part: string) => /^__[\w-]+=/.test(part) && isPreference(part.slice(2, part.indexOf('=')));
  const kept = parts.filter((part) => !isMeant(part)).join('&');
  req.url = kept === '' ? path : `${path}?${kept}`;
  const found = new URLSearchParams(parts.filter(isMeant).join('&'));
  return Object.fromEntries([...found].map(([name, value]) => [name.slice(2), value]));
}

const parse = (header: string): Asked['given'] =>
  Object.fromEntries(
    header
      .split(/[,;]/)
      .map((part) => /^\s*([\w-]+)\s*=\s*"?([^"]*?)"?\s*$/.exec(part))
      .map((match): [string, string] => [match?.[1]?.toLowerCase() ?? '', match?.[2] ?? ''])
      .filter(([name]) => isPreference(name)),
  );

/** Undefined if nothing is asked for. */
export function readPreference(
  { given, at }: Pick<Asked, 'given' | 'at'>,
  operation: MockOperation,
  dynamic?: Dynamic,
): Preference | undefined {
  // As with Prism, an example is sent as it is.
  const isApplied = ([name]: [string, string]) =>
    given.example === undefined || (name !== 'dynamic' && name !== 'seed');
  const applied = Object.entries(given).filter(isApplied);
  if (applied.length === 0) return undefined;
  const { delay } = given;
  if (delay !== undefined && (!/^\d{1,5}$/.test(delay) || Number(delay) > longestDelay))
    throw unavailable(at('delay'), `delay=${delay}`, [`delay=MILLISECONDS, 0 to ${longestDelay}`]);
  return {
    says: applied.map(([name, value]) => `${name}=${value}`).join(', '),
    delayMilliseconds: delay === undefined ? undefined : Number(delay),
    choice: readChoice({ given, at }, operation, dynamic),
    isStatic: given.dynamic === 'false',
  };
}

function readChoice(
  { given, at }: Pick<Asked, 'given' | 'at'>,
  operation: MockOperation,
  byDefault: Dynamic | undefined,
): Choice | undefined {
  const { code, example, dynamic, seed, 'retry-after': retryAfter } = given;
  // Compared as text, because Number('2e2') is 200.
  const status = operation.statuses.find((one) => String(one) === code);
  if (code !== undefined && status === undefined)
    throw unavailable(
      at('code'),
      `code=${code}`,
      operation.statuses.map((one) => `code=${one}`),
    );
  if (retryAfter !== undefined && !((status === 429 || status === 504) && /^\d{1,4}$/.test(retryAfter)))
    throw unavailable(
      at('retry-after'),
      `retry-after=${retryAfter}`,
      [429, 504].map((one) => `code=${one}, retry-after=SECONDS`),
    );
  if (dynamic !== undefined && !/^(true|false)$/.test(dynamic))
    throw unavailable(at('dynamic'), `dynamic=${dynamic}`, ['dynamic=true', 'dynamic=false']);
  // A made-up error may have the code of another status, because the contract does not forbid it. So only who asks for one gets it.
  const isMadeUp = byDefault !== undefined && !(status !== undefined && status >= 400);
  const isDynamic = dynamic === undefined ? isMadeUp : dynamic === 'true';
  if (seed !== undefined && !(isDynamic && /^\d{1,9}$/.test(seed)))
    throw unavailable(at('seed'), `seed=${seed}`, [`dynamic=true, seed=NUMBER, 0 to ${largestSeed}`]);
  if (example !== undefined) {
    const found = operation.responseExamples.find(
      (response) => response.example === example && (status === undefined || response.status === status),
    );
    if (found) return { status: found.status, example, retryAfter };
    const choices = choicesOf(operation).filter((one) => status === undefined || one.status === status);
    throw unavailable(
      at('example'),
      `${code ? `code=${code}, ` : ''}example=${example}`,
      choices.map((one) => `code=${one.status}, example=${one.example}`),
    );
  }
  if (!isDynamic || (status === undefined && dynamic === undefined && seed === undefined))
    return status === undefined ? undefined : { status, retryAfter };
  const byText = seed === undefined ? undefined : Number(seed);
  return { status: status ?? operation.successStatus, seed: byText ?? byDefault?.seed ?? 'any', retryAfter };
}

export const choicesOf = ({ responseExamples }: MockOperation) =>
  responseExamples.map(({ status, example }) => ({ status, example }));

export function unavailable(
  place: Pick<Detail, 'location' | 'pointer'>,
  given: string,
  choices: readonly string[],
): ApiError {
  const message = `asks for ${given}, which does not exist; choose ${choices.join(' | ')}`;
  return new ApiError('bad_request', { details: [{ ...place, message, type: 'value_error.prefer' }] });
}
