// `Prefer: code=…`, `example=…`, `dynamic=true` (RFC 7240): the caller chooses among the contract's own answers. Whatever
// is not there is refused with the list of what is; other preferences are not ours, and RFC 7240 has them ignored.
import { ApiError } from '../server/errors.ts';
import type { MockOperation } from './operations.ts';
import type { Wanted } from './prism.ts';

export interface Preference extends Wanted {
  /** For the `Preference-Applied` header. */
  applied: string;
}

const names = ['code', 'example', 'dynamic'];

export function readPreference(header: string | undefined, operation: MockOperation): Preference | undefined {
  const given = parse(header ?? '');
  const { code, example, dynamic } = Object.fromEntries(given) as Record<string, string | undefined>;
  if (dynamic !== undefined && dynamic !== 'true' && dynamic !== 'false')
    throw unknown(`dynamic=${dynamic}`, ['dynamic=true', 'dynamic=false']);
  if (example !== undefined && dynamic === 'true')
    throw unknown(`example=${example}, dynamic=true`, ['one of the two']);
  // As text: 2e2 is a number, but no status.
  const status = operation.statuses.find((one) => String(one) === code);
  if (code !== undefined && status === undefined)
    throw unknown(
      `code=${code}`,
      operation.statuses.map((one) => `code=${one}`),
    );
  const applied = given.map(([name, value]) => `${name}=${value}`).join(', ');
  if (example !== undefined) {
    const found = operation.answers.find(
      (answer) => answer.example === example && (status === undefined || answer.status === status),
    );
    if (!found) throw unknown(`${code ? `code=${code}, ` : ''}example=${example}`, listed(operation, status));
    return { status: found.status, example, applied };
  }
  if (status === undefined && dynamic !== 'true') return undefined;
  return { status: status ?? operation.success, dynamic: dynamic === 'true', applied };
}

const parse = (header: string): [name: string, value: string][] =>
  header
    .split(/[,;]/)
    .map((part) => /^\s*([\w-]+)\s*=\s*"?([^"]*?)"?\s*$/.exec(part))
    .map((match): [string, string] => [match?.[1]?.toLowerCase() ?? '', match?.[2] ?? ''])
    .filter(([name]) => names.includes(name));

const listed = ({ answers }: MockOperation, status: number | undefined) =>
  answers
    .filter((answer) => status === undefined || answer.status === status)
    .map((answer) => `code=${answer.status}, example=${answer.example}`);

// A header has no location of its own in an error's details, and the message says that it is one.
function unknown(given: string, choices: string[]): ApiError {
  const about = { location: 'path', pointer: '' } as const;
  return new ApiError('bad_request', {
    reason: `there is no answer for Prefer: ${given}`,
    details: [
      {
        ...about,
        message: `the header Prefer asks for ${given}, which is not there; choose from the following`,
        type: 'value_error.prefer',
      },
      ...choices.map((choice) => ({
        ...about,
        message: `Prefer: ${choice}`,
        type: 'value_error.prefer.choice',
      })),
    ],
  });
}
