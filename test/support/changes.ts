/**
 * The changes of the table "What a change needs" in docs/guides/backend-engineer.md, as edits of exactly the files that
 * the table names. test/tools/changes.test.ts applies them to a copy of the project, together with an operation that nobody
 * has written yet.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pascal } from '../../scripts/new/names.ts';
import { root } from '../../scripts/support/root.ts';
import { swap } from './contract-copy.ts';

/** By path within the project. A file that does not exist begins empty. */
export type ProjectEdits = Record<string, (text: string) => string>;

const write = (text: string) => () => text;
const before = (line: string, more: string) => swap(line, `${more}${line}`);

const path = `get:
  operationId: getCurrencies
  tags: [Transactions]
  summary: Get the currencies
  description: Gets the currencies that transactions may have. They are the same for every merchant account.
  security:
    - BearerAuth: [currencies.read]
  x-merchant-scope: none
  parameters:
    - $ref: ../components/parameters/MerchantAccountId.yaml
  responses:
    '200':
      description: The currencies.
      headers:
        X-Request-ID:
          $ref: ../components/headers/RequestId.yaml
      content:
        application/json:
          schema:
            $ref: ../components/schemas/CurrencyCollection.yaml
          examples:
            all:
              $ref: ../components/examples/CurrenciesAll.yaml
    '400':
      $ref: ../components/responses/BadRequest.yaml
    '401':
      $ref: ../components/responses/Unauthorized.yaml
    '403':
      $ref: ../components/responses/Forbidden.yaml
    '405':
      $ref: ../components/responses/MethodNotAllowed.yaml
    '500':
      $ref: ../components/responses/ServerError.yaml
`;

const collection = `description: All currencies.
type: object
additionalProperties: false
required: [items]
properties:
  items:
    description: The currencies.
    type: array
    items:
      $ref: ./CurrencyCode.yaml
`;

/** Designed: the service answers with the example, from a stub that \`npm run generate\` writes. */
export const operationInContract: ProjectEdits = {
  'openapi/openapi.yaml': before('webhooks:\n', '  /currencies:\n    $ref: ./paths/currencies.yaml\n'),
  'openapi/paths/currencies.yaml': write(path),
  'openapi/components/schemas/CurrencyCollection.yaml': write(collection),
  'openapi/components/examples/CurrenciesAll.yaml': write(
    'summary: All currencies\nvalue:\n  items: [EUR, USD]\n',
  ),
};

/** Built. */
export const operationInCode: ProjectEdits = {
  'server/handlers/get-currencies.ts':
    write(`import type { Handler, Result } from '../../generated/operations.ts';
import type { Deps } from './deps.ts';

export const getCurrencies: Handler<'getCurrencies', Deps> = (): Promise<Result<'getCurrencies'>> =>
  Promise.resolve({ status: 200, body: { items: ['EUR', 'USD', 'JPY'] } });
`),
  'test/service/operations/get-currencies.test.ts': write(`import { expect, describe, it } from 'vitest';
import { describeOperation } from '../../support/operation.ts';

describeOperation('getCurrencies', {}, (frame) => {
  describe('200 lists the currencies', () => {
    it('has the yen', async () => {
      const { body } = await frame.call();
      expect(body).toEqual({ items: ['EUR', 'USD', 'JPY'] });
    });
  });
});
`),
};

export const fieldInContract: ProjectEdits = {
  'openapi/components/schemas/Transaction.yaml': (text) =>
    before(
      '  merchant_account_id:\n',
      `  installments:
    description: In how many installments the buyer pays; null when there are none.
    type: [integer, 'null']
`,
    )(before('  - merchant_account_id\n', '  - installments\n')(text)),
  'openapi/components/examples/TransactionCaptureSucceeded.yaml': before(
    '  merchant_account_id: default\n',
    '  installments: 3\n',
  ),
};

export const fieldInCode: ProjectEdits = {
  'server/database/migrations/9001-installments.ts': write(`import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql\`alter table transactions add column installments integer\`.execute(db);
}
`),
  'server/resources/transactions/table.ts': before(
    "  merchant_account_id: 'text',\n",
    "  installments: 'integer',\n",
  ),
  'server/resources/personal.ts': swap(
    "  instrument_type: 'kept',\n",
    "  instrument_type: 'kept',\n  installments: 'kept',\n",
  ),
};

export const filterInContract: ProjectEdits = {
  'openapi/components/parameters/CountryFilter.yaml': write(`name: country
in: query
description: Only transactions of one of these countries. Repeat the parameter for several.
style: form
explode: true
schema:
  type: array
  minItems: 1
  maxItems: 100
  items:
    $ref: ../schemas/CountryCode.yaml
`),
  'openapi/paths/transactions.yaml': before(
    '    - $ref: ../components/parameters/CurrencyFilter.yaml\n',
    '    - $ref: ../components/parameters/CountryFilter.yaml\n',
  ),
};

export const filterInCode: ProjectEdits = {
  'server/database/migrations/9002-filter-by-country.ts': write(`import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql\`create index transactions_country on transactions (merchant_account_id, country, created_at desc, id desc)
    where country is not null\`.execute(db);
}
`),
  'server/resources/transactions/filters.ts': before(
    '  currency: (values)',
    "  country: (values) => oneOf('country', 'text', values),\n",
  ),
  'mock/outcomes/transaction-filters.ts': before(
    '  currency: ({ currency }',
    '  country: ({ country }, wanted) => isOneOf(country, wanted),\n',
  ),
};

/** The recipe of the designers' guide: copies of another event, under the new name. */
function eventLikeUpdated(event: string, resource: string, example: string): ProjectEdits {
  const name = pascal(event);
  const copied = (file: string) =>
    write(
      readFileSync(join(root, 'openapi', file), 'utf8')
        .replaceAll('TransactionUpdated', name)
        .replaceAll('transaction.updated', event)
        .replace('./Transaction.yaml', `./${resource}.yaml`)
        .replace('TransactionCaptureSucceeded', example),
    );
  return {
    'openapi/openapi.yaml': before('components:\n', `  ${event}:\n    $ref: ./webhooks/${event}.yaml\n`),
    [`openapi/webhooks/${event}.yaml`]: copied('webhooks/transaction.updated.yaml'),
    [`openapi/components/schemas/${name}Event.yaml`]: copied(
      'components/schemas/TransactionUpdatedEvent.yaml',
    ),
    [`openapi/components/examples/Event${name}.yaml`]: copied(
      'components/examples/EventTransactionUpdated.yaml',
    ),
  };
}

export const eventInCode: ProjectEdits = {
  'server/resources/transactions/changes.ts': before(
    '  const { payment_method_id: card, merchant_account_id: account } = found;\n',
    `  if (status === 'capture_succeeded')
    await unit.publish?.('transaction.captured', found.merchant_account_id, presentTransaction(moved));
`,
  ),
};

export const errorInContract: ProjectEdits = {
  'openapi/components/schemas/ErrorCode.yaml': before('  - too_early\n', '  - card_limit_reached\n'),
  'openapi/components/responses/Conflict.yaml': (text) => `${text}      card_limit_reached:
        $ref: ../examples/ErrorCardLimitReached.yaml
`,
  'openapi/components/examples/ErrorCardLimitReached.yaml': write(`summary: The buyer has too many cards
value:
  type: error
  code: card_limit_reached
  status: 409
  message: The buyer has reached the limit of stored cards
  details: []
  resource_id: null
`),
};

export const errorInCode: ProjectEdits = {
  'server/handlers/create-payment-method.ts': before(
    '    const card = {\n',
    "    if (buyer?.external_identifier === 'too-many-cards') throw new ApiError('card_limit_reached');\n",
  ),
};

const guide = readFileSync(join(root, 'docs/guides/backend-engineer.md'), 'utf8');

const section = (heading: string) => guide.slice(guide.indexOf(`### ${heading}\n`)).split('\n### ')[0] ?? '';

/** Blocks of kind `diff` change what is there; their parts are separated by `@@`. */
const patch = (diff: string) => (text: string) =>
  diff.split(/^@@\n/m).reduce((made, part) => {
    const side = (sign: string) =>
      [...part.matchAll(/^([ +-])(.*\n)/gm)]
        .flatMap(([, mark = '', line = '']) => (mark === ' ' || mark === sign ? line : []))
        .join('');
    return swap(side('-'), side('+'))(made);
  }, text);

/** The blocks of code in a recipe whose first line is a path, of those files that are wanted. */
const partOf = (heading: string, isWanted: (path: string) => boolean): ProjectEdits =>
  Object.fromEntries(
    [...section(heading).matchAll(/```(diff|yaml)\n# (\S+)\n([^]*?)```/g)]
      .map(([, kind, file = '', code = '']) => [file, kind === 'diff' ? patch(code) : write(code)] as const)
      .filter(([file]) => isWanted(file)),
  );

const isContract = (path: string) => path.startsWith('openapi/');

const buyerId = `  buyer_id:
    description: The ID of the buyer.
    type: string
    format: uuid
`;
const inSchema = (text: string) =>
  before('  display_name:\n', buyerId)(before('display_name', 'buyer_id, ')(text));
const inExample = before('  display_name:', '  buyer_id: 5b1f0a0e-3a55-4b40-9a0f-7d0c6f4f1a77\n');

/** A record that belongs to a buyer, whose name is erased with the buyer: after `npm run new`. */
const ownedInContract: ProjectEdits = {
  'openapi/components/schemas/Membership.yaml': (text) =>
    swap('for people.\n    type: string', "for people.\n    type: [string, 'null']")(inSchema(text)),
  'openapi/components/schemas/MembershipCreate.yaml': inSchema,
  'openapi/components/examples/MembershipSample.yaml': inExample,
  'openapi/components/examples/MembershipSampleRequest.yaml': inExample,
  'openapi/paths/memberships.yaml': swap('responses/NotFound.yaml', 'responses/NotFoundPaymentMethod.yaml'),
};

interface Change {
  contract: ProjectEdits;
  code: ProjectEdits;
  /** The call of `npm run new` that writes the other files. */
  call?: string;
}

/** The name of each change is that of its row in the guide. */
export const changes: Record<string, Change> = {
  'operation without new storage': { contract: operationInContract, code: operationInCode },
  'operation with a new table': {
    contract: {},
    code: {},
    call: 'table refund_reasons --erasure display_name=kept',
  },
  'field of a stored resource': { contract: fieldInContract, code: fieldInCode },
  'filter of `/transactions`': { contract: filterInContract, code: filterInCode },
  event: {
    contract: eventLikeUpdated('transaction.captured', 'Transaction', 'TransactionCaptureSucceeded'),
    code: eventInCode,
  },
  'error code': { contract: errorInContract, code: errorInCode },
};

/** What every change of the contract needs besides: the version and the changelog. */
export const announced: ProjectEdits = {
  'openapi/openapi.yaml': swap(/version: (\d+)\.(\d+)\.\d+/, 'version: 1.99.0'),
  'CHANGELOG.md': before(
    '## ',
    `## 1.99.0 — 2026-11-20

### Contract

- New operation \`GET /currencies\`, field \`installments\` of a transaction, filter \`country\` of transactions, event
  \`transaction.captured\`, error code \`card_limit_reached\`.
- New operations \`GET /buyer-notes\`, \`POST /buyer-notes\`, \`GET /buyer-notes/{note_id}\`, \`GET /buyers/{buyer_id}\`,
  \`POST /refund-reasons\`, \`GET /refund-reasons/{reason_id}\`, event \`refund-reason.created\`,
  \`DELETE /refund-reasons/{reason_id}\`, \`PATCH /refund-reasons/{reason_id}\`, \`PATCH /buyer-notes/{note_id}\`,
  \`PUT /buyer-notes/{note_id}\`, \`DELETE /buyer-labels/{label_id}\`, \`GET /refund-reasons\`,
  \`POST /memberships\`, \`membership.created\`, field \`shipped_at\` of a transaction.

`,
  ),
};

/** The code of a recipe in the guide: the first one below its heading, or the next. */
function recipe(heading: string, index = 0): string {
  const code = [...section(heading).matchAll(/```ts\n([^]*?)```/g)][index]?.[1];
  if (code === undefined) throw new Error(`The guide has no code below "${heading}".`);
  return code;
}

/** Operations that `npm run new` wrote, implemented and tested with the code of the guide. */
export const recipes: ProjectEdits = {
  'server/handlers/get-buyer.ts': () => recipe('A path parameter'),
  ...partOf('A path parameter', () => true),
  'test/service/operations/get-buyer.test.ts': () => recipe('Records in a test'),
  ...partOf('A filter', (path) => !isContract(path)),
};

const model = readFileSync(join(root, 'openapi/paths/card-scheme-definitions.yaml'), 'utf8');

/** A designed operation with a parameter in its path: nothing but its stub exists. */
export const onlyDesigned: ProjectEdits = {
  'openapi/openapi.yaml': before(
    'webhooks:\n',
    '  /card-schemes/{card_scheme_id}:\n    $ref: ./paths/card-schemes_{card_scheme_id}.yaml\n',
  ),
  'openapi/paths/card-schemes_{card_scheme_id}.yaml': write(
    [
      swap('listCardSchemeDefinitions', 'getCardScheme'),
      swap('[card-scheme-definitions.read]', '[card-schemes.read]'),
      swap('summary: List', 'summary: Get'),
      before('  responses:\n', '    - $ref: ../components/parameters/CardSchemeId.yaml\n'),
      before("    '405':\n", "    '404':\n      $ref: ../components/responses/NotFound.yaml\n"),
    ].reduce((text, edit) => edit(text), model),
  ),
  'openapi/components/parameters/CardSchemeId.yaml': write(`name: card_scheme_id
in: path
required: true
description: The ID of the card scheme.
schema:
  type: string
  format: uuid
`),
  'CHANGELOG.md': swap('`GET /currencies`', '`GET /currencies`, `GET /card-schemes/{card_scheme_id}`'),
};

/** What `npm run new` is asked for in the copy, each the arguments of one call, and what is edited in between. */
export const newThings: (string[] | ProjectEdits)[] = [
  ['operation', 'GET', '/buyer-notes/{note_id}'],
  ['operation', 'POST', 'buyer-notes'],
  ['operation', 'GET', '/buyers/{buyer_id}'],
  ['operation', 'GET', '/buyer-notes'],
  ['operation', 'POST', '/refund-reasons'],
  ['operation', 'GET', '/refund-reasons/{reason_id}'],
  ['operation', 'GET', '/refund-reasons'],
  ['operation', 'DELETE', '/refund-reasons/{reason_id}'],
  ['operation', 'PATCH', '/refund-reasons/{reason_id}'],
  eventLikeUpdated('refund-reason.created', 'RefundReason', 'RefundReasonSample'),
  ['table', 'refund_reasons', '--erasure', 'display_name=kept'],
  ['operation', 'PATCH', '/buyer-notes/{note_id}'],
  ['operation', 'PUT', '/buyer-notes/{note_id}', '--id', 'updateWholeBuyerNote'],
  ['operation', 'DELETE', '/buyer-labels/{label_id}'],
  ['field', 'shipped_at', '--in', 'Transaction', '--type', 'date-time', '--erasure', 'kept'],
  ['field', 'severity', '--in', 'RefundReason', '--values', 'minor,major'],
  partOf('A filter', isContract),
  ['operation', 'POST', '/memberships'],
  eventLikeUpdated('membership.created', 'Membership', 'MembershipSample'),
  ownedInContract,
  ['table', 'memberships', '--erasure', 'display_name=erased'],
  // The API does not show it.
  ['table', 'ledger_entries'],
];

/** An operation that takes an Idempotency-Key and answers without a body. */
export const emptyAnswer: ProjectEdits = {
  'openapi/paths/buyer-notes_{note_id}.yaml': (text) =>
    text.replace(/(patch:[^]*?)'200':([^]*?) {6}content:\n(?: {8}.*\n)+/, "$1'204':$2"),
};
