// The ESLint rule that a handler throws only errors whose status its operation declares.
import { Linter, type ESLint } from 'eslint';
import { expect, it } from 'vitest';

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

it('says what to add to the contract, and where', () => {
  expect(lint('server/handlers/check-gift-card-balances.ts', thrown('duplicate_record'))).toEqual([
    `checkGiftCardBalances does not declare 409, the status of 'duplicate_record': the caller would get 500. Add it below \
"responses" in openapi/paths/gift-cards_balances.yaml, then run npm run generate:
  '409':
    $ref: ../components/responses/Conflict.yaml`,
  ]);
});

it('finds a status that the contract says never happens, and both sides of a condition', () => {
  const code = "throw new ApiError(late ? 'gateway_timeout' : 'bad_gateway');";
  expect(lint('server/handlers/list-api-key-pairs.ts', code)).toEqual([
    expect.stringContaining('504'),
    expect.stringContaining('502'),
  ]);
});

it('accepts what is declared, and leaves files alone that belong to no operation', () => {
  const declared = thrown('not_found', 'duplicate_record', 'unprocessable', 'server_error');
  expect(lint('server/handlers/create-payment-method.ts', declared)).toEqual([]);
  expect(lint('server/handlers/page.ts', thrown('too_early'))).toEqual([]);
  expect(lint('server/handlers/check-gift-card-balances.ts', thrown('unprocessable'))).toHaveLength(1);
});
