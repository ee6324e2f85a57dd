// The ESLint rules about errors: a handler throws only those whose status its operation declares, and an action throws none.
import { ESLint, Linter } from 'eslint';
import { expect, it } from 'vitest';
import { root } from '../../scripts/support/root.ts';

// JavaScript, because ESLint loads it; the compiler does not know its types.
const file = new URL('../../scripts/eslint/declared-errors.js', import.meta.url).href;
const { declaredErrors } = (await import(file)) as { declaredErrors: ESLint.Plugin };

const lint = (handler: string, code: string) =>
  new Linter()
    .verify(
      code,
      [
        {
          files: ['**/*.ts'],
          plugins: { contract: declaredErrors },
          rules: { 'contract/declared-errors': 'error' },
        },
      ],
      handler,
    )
    .map(({ message }) => message);
const thrown = (...codes: string[]) => codes.map((code) => `throw new ApiError('${code}', {});`).join('\n');

it('says what to paste into the contract, and where', () => {
  expect(lint('server/handlers/check-gift-card-balances.ts', thrown('duplicate_record'))).toEqual([
    `checkGiftCardBalances does not declare 409, the status of 'duplicate_record': the caller would get 500. Paste this below \
"responses" in openapi/paths/gift-cards_balances.yaml, then run npm run generate:
    '409':
      $ref: ../components/responses/Conflict.yaml`,
  ]);
});

it('proposes the response that most operations have, and names the others', () => {
  const [message] = lint('server/handlers/list-card-scheme-definitions.ts', thrown('not_found'));
  expect(message).toMatch(/NotFound\.yaml\nOr, if it fits better: NotFoundPaymentMethod\.$/);
  const [other] = lint('server/handlers/list-card-scheme-definitions.ts', thrown('unprocessable'));
  expect(other).toMatch(/UnprocessableCursor\.yaml\nOr, if it fits better: Unprocessable/);
});

it('finds a status that the contract says never happens, and both sides of a condition', () => {
  const code = "throw new ApiError(late ? 'gateway_timeout' : 'bad_gateway');";
  const advice = (status: number) =>
    `Remove ${status} below "x-reserved" in openapi/paths/api-key-pairs.yaml, then run npm run generate.`;
  expect(lint('server/handlers/list-api-key-pairs.ts', code)).toEqual([
    expect.stringContaining(advice(504)),
    expect.stringContaining(advice(502)),
  ]);
});

it('accepts what is declared, and leaves files alone that belong to no operation', () => {
  const declared = thrown('not_found', 'duplicate_record', 'unprocessable', 'server_error');
  expect(lint('server/handlers/create-payment-method.ts', declared)).toEqual([]);
  expect(lint('server/handlers/page.ts', thrown('too_early'))).toEqual([]);
  expect(lint('server/handlers/check-gift-card-balances.ts', thrown('unprocessable'))).toHaveLength(1);
});

it.each([
  ['actions', 1],
  ['store', 1],
  ['domain', 1],
  ['present', 1],
  ['handlers', 0],
  ['http', 0],
])('a file of server/%s that imports ApiError has %i faults', async (folder, faults) => {
  const file = `server/${folder}/refund-reasons.ts`;
  const { rules = {} } = (await new ESLint({ cwd: root }).calculateConfigForFile(file)) as Linter.Config;
  const rule = rules['no-restricted-imports'] ?? 'off';
  const config = [{ files: ['**/*.ts'], rules: { 'no-restricted-imports': rule } }];
  const found = new Linter().verify("import { ApiError } from '../errors.ts';", config, file);
  expect(found).toHaveLength(faults);
  for (const { message } of found)
    expect(message).toContain("let the handler throw: if (done === 'closed') throw new ApiError('…')");
});
