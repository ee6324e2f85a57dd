// `Prefer: code=…`, `example=…`, `dynamic=true`, `retry-after=…` (RFC 7240): the caller selects one of the contract's responses. A response
// that the contract does not have gives 400 and the list of those it has. RFC 7240: other preferences are ignored.
import { ApiError } from '../server/errors.ts';
import type { MockOperation } from './operations.ts';
import type { ResponseChoice } from './prism.ts';

export interface Preference extends ResponseChoice {
  /** The value of the `Preference-Applied` header. */
  applied: string;
  /** Replaces that of the contract's example. */
  retryAfter?: string | undefined;
}

const names = ['code', 'example', 'dynamic', 'retry-after'];

export function readPreference(header: string | undefined, operation: MockOperation): Preference | undefined {
  const given = parse(header ?? '');
  const preferred = Object.fromEntries(given) as Record<string, string | undefined>;
  const { code, example, dynamic, 'retry-after': retryAfter } = preferred;
  if (dynamic !== undefined && dynamic !== 'true' && dynamic !== 'false')
    throw unavailable(`dynamic=${dynamic}`, ['dynamic=true', 'dynamic=false']);
  if (example !== undefined && dynamic === 'true')
    throw unavailable(`example=${example}, dynamic=true`, ['one of the two']);
  // Compared as text, because Number('2e2') is 200.
  const status = operation.statuses.find((one) => String(one) === code);
  if (code !== undefined && status === undefined)
    throw unavailable(
      `code=${code}`,
      operation.statuses.map((one) => `code=${one}`),
    );
  if (retryAfter !== undefined && (status !== 429 || !/^\d{1,4}$/.test(retryAfter)))
    throw unavailable(`retry-after=${retryAfter}`, ['code=429, retry-after=SECONDS']);
  const applied = given.map(([name, value]) => `${name}=${value}`).join(', ');
  if (example !== undefined) {
    const found = operation.responseExamples.find(
      (response) => response.example === example && (status === undefined || response.status === status),
    );
    if (!found)
      throw unavailable(`${code ? `code=${code}, ` : ''}example=${example}`, choicesOf(operation, status));
    return { status: found.status, example, applied, retryAfter };
  }
  if (status === undefined && dynamic !== 'true') return undefined;
  return { status: status ?? operation.successStatus, dynamic: dynamic === 'true', applied, retryAfter };
}

/** Whether the header selects nothing, which may be a misspelling: `cod=401`, `401`. */
export const isIgnored = (header: string | undefined): boolean =>
  header !== undefined && parse(header).length === 0;

const parse = (header: string): [name: string, value: string][] =>
  header
    .split(/[,;]/)
    .map((part) => /^\s*([\w-]+)\s*=\s*"?([^"]*?)"?\s*$/.exec(part))
    .map((match): [string, string] => [match?.[1]?.toLowerCase() ?? '', match?.[2] ?? ''])
    .filter(([name]) => names.includes(name));

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
