// Below a fault of the compiler in a handler, `npm run lint -- --types` says what the contract declares.
import { expect, it } from 'vitest';
import { operations } from '../../generated/operations.ts';
import { withStatuses } from '../../scripts/support/declared-statuses.ts';

const fault = (file: string, code: string) =>
  `${file}(7,3): error ${code}: Type '…' is not assignable to type '…'.`;

it('once for each handler that returns what it must not, and for nothing else', async () => {
  const output = [
    fault('server/handlers/list-card-scheme-definitions.ts', 'TS2322'),
    fault('server/handlers/list-card-scheme-definitions.ts', 'TS2322'),
    fault('server/handlers/list-transactions.ts', 'TS2304'),
    fault('server/store/buyers.ts', 'TS2322'),
  ].join('\n');
  const declared = operations.listCardSchemeDefinitions.statuses.join(', ');
  expect(await withStatuses({ ok: false, output })).toEqual({
    ok: false,
    output: `${output}\nThe contract declares for listCardSchemeDefinitions: ${declared}`,
  });
});
