/**
 * A contract that is not valid OpenAPI fails `npm run lint -- --contract`, and the message names file and line. Faults that do
 * not hide each other share a project, because starting the linter takes most of the time.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { contractDigest } from '../../scripts/generate/digest.ts';
import { root } from '../../scripts/support/root.ts';
import { brokenProject, cut, swap, type Edits } from '../support/contract-copy.ts';
import { run, runNode } from '../support/processes.ts';

interface Fault {
  what: string;
  file: string;
  edit: (text: string) => string;
  /** The line that the message must name, by its text. */
  at: string;
  says: string;
  /** The file that the message must name, if it is not the edited one. */
  shows?: string;
}

const schema = (name: string) => `components/schemas/${name}.yaml`;
const example = (name: string) => `components/examples/${name}.yaml`;

const projects: Record<string, Fault[]> = {
  'schemas that cannot be': [
    {
      what: 'a reference that leads nowhere',
      file: schema('Buyer'),
      edit: swap('./BillingDetails.yaml', './BillingDetail.yaml'),
      at: './BillingDetail.yaml',
      says: "Can't resolve $ref ./BillingDetail.yaml: there is no such file. Did you mean ./BillingDetails.yaml?",
    },
    {
      what: 'a reference that leads nowhere, below a description',
      file: schema('ApiKeyPair'),
      edit: swap('./Timestamp.yaml', './Timestmp.yaml'),
      at: '$ref: ./Timestmp.yaml',
      says: "Can't resolve $ref ./Timestmp.yaml: there is no such file. Did you mean ./Timestamp.yaml?",
    },
    {
      what: 'a reference without the extension',
      file: schema('PaymentMethod'),
      edit: swap('./Timestamp.yaml', './Timestamp'),
      at: './Timestamp',
      says: "Can't resolve $ref ./Timestamp: there is no such file. Did you mean ./Timestamp.yaml?",
    },
    {
      what: 'a reference to the root file',
      file: schema('Transaction'),
      edit: swap('$ref: ./Timestamp.yaml', "$ref: '#/components/schemas/Timestamp'"),
      at: '#/components/schemas/Timestamp',
      says: "Can't resolve $ref #/components/schemas/Timestamp: every component is a file. Write ./Timestamp.yaml",
    },
    {
      what: 'a reference that leads to no parameter, and not that this one is missing',
      file: 'paths/webhook-subscriptions.yaml',
      edit: swap('/Limit.yaml', '/Limt.yaml'),
      at: '/Limt.yaml',
      says: 'there is no such file. Did you mean ../components/parameters/Limit.yaml?',
    },
    {
      what: 'a type that does not exist',
      file: schema('Intent'),
      edit: swap('type: string', 'type: strng'),
      at: 'type: strng',
      says: '`type` cannot be `strng`. Did you mean `string`?',
    },
    {
      what: 'a type that is shortened',
      file: schema('PageLimit'),
      edit: swap('type: integer', 'type: int'),
      at: 'type: int',
      says: '`type` cannot be `int`. Did you mean `integer`?',
    },
    {
      what: 'a pattern that is not a regular expression',
      file: schema('CountryCode'),
      edit: swap('[A-Z]{2}', '[A-Z{2}'),
      at: 'pattern: ^[A-Z{2}$',
      says: 'Fix the regular expression: Invalid regular expression: /^[A-Z{2}$/u: Unterminated character class.',
    },
    {
      what: 'a length below zero',
      file: schema('GiftCardBalanceNew'),
      edit: swap('pattern: ^[0-9]{16,19}$', 'maxLength: 19\n    minLength: -1'),
      at: 'minLength: -1',
      says: 'greater than or equal to 0',
    },
  ],
  'what only the schema of OpenAPI refuses': [
    {
      what: 'a style that a query cannot have',
      file: 'components/parameters/Limit.yaml',
      edit: swap('in: query\n', 'in: query\nstyle: simple\n'),
      at: 'style: simple',
      says: '`style: simple` is not allowed here. Write form, spaceDelimited, pipeDelimited or deepObject.',
    },
    {
      what: 'what Redocly has found too, in its words',
      file: 'components/parameters/Cursor.yaml',
      edit: swap('schema:', 'schma:'),
      at: 'schma:',
      says: 'Property `schma` is not expected here. Did you mean `schema`?',
    },
  ],
  'examples that do not match': [
    {
      what: 'a value that its schema refuses',
      file: example('ErrorForbidden'),
      edit: swap('status: 403', 'status: forbidden'),
      at: 'status: forbidden',
      says: 'This example does not match its schema: `status` must be an integer.',
    },
    {
      what: 'a code that does not exist, and not that no example has the right one',
      file: example('ErrorDuplicate'),
      edit: swap('code: duplicate_record', 'code: duplicate'),
      at: 'code: duplicate',
      says: 'This example does not match its schema: `code` must be equal to one of the allowed values',
    },
    {
      what: 'a value that is shared by $ref, where it is written',
      file: example('GiftCardBalanceNotStored'),
      edit: swap('balance: 5000', 'balance: much'),
      at: 'balance: much',
      says: 'This example does not match its schema: `balance` must be an integer or null.',
    },
    {
      what: 'a misspelt property of an object with alternatives',
      file: example('GiftCardBalancesWorksRequest'),
      edit: swap('- number: ', '- nmber: '),
      at: '- nmber: ',
      says: 'it has no property `nmber`. Did you mean `number`?',
    },
    {
      what: 'an object that fits no alternative',
      file: example('GiftCardBalancesMixedRequest'),
      edit: swap('- number: ', '- serial: '),
      at: '- serial: ',
      says: 'it fits none of the alternatives (oneOf). Missing for one or another: `number`, `id`. Not allowed in one or another: `serial`, `pin`.',
    },
    {
      what: 'a text that a comment cuts off',
      file: schema('Role'),
      edit: swap(/^description: .*/u, "description: Don't lose # 1."),
      at: "description: Don't lose # 1.",
      says: "The text ends before \" #\", which begins a comment. Write: description: 'Don''t lose # 1.'",
    },
    {
      what: 'a shared value that does not exist',
      file: example('GiftCardBalanceFailed'),
      edit: swap('./GiftCardBalanceNotStored.yaml', './GiftCardBalanceNotStord.yaml'),
      at: './GiftCardBalanceNotStord.yaml',
      says: 'there is no such file. Did you mean ./GiftCardBalanceNotStored.yaml#/value?',
    },
    {
      what: 'a place in a shared value that does not exist',
      file: example('TransactionRefunded'),
      edit: swap('TransactionCaptureSucceeded.yaml#/value', 'TransactionCaptureSucceeded.yaml#/vale'),
      at: '#/vale',
      says: 'there is no "vale" in ./TransactionCaptureSucceeded.yaml. Did you mean value?',
    },
    {
      what: 'an example that contains itself',
      file: example('BillingDetailsJaneDoe'),
      edit: swap('tax_id: null', 'tax_id:\n    $ref: ./BuyerJaneDoe.yaml#/value'),
      at: '$ref: ./BuyerJaneDoe.yaml#/value',
      says: 'This example contains itself (BuyerJaneDoe.yaml → BillingDetailsJaneDoe.yaml → BuyerJaneDoe.yaml)',
    },
    {
      what: 'the other example of that circle',
      file: example('BillingDetailsJaneDoe'),
      edit: swap('tax_id: null', 'tax_id:\n    $ref: ./BuyerJaneDoe.yaml#/value'),
      shows: example('BuyerJaneDoe'),
      at: '$ref: ./BillingDetailsJaneDoe.yaml#/value',
      says: 'This example contains itself (BillingDetailsJaneDoe.yaml → BuyerJaneDoe.yaml → BillingDetailsJaneDoe.yaml)',
    },
  ],
  'names that are misspelt': [
    {
      what: 'a keyword',
      file: schema('Intent'),
      edit: swap('enum:', 'enmu:'),
      at: 'enmu:',
      says: 'Property `enmu` is not expected here. Did you mean `enum`?',
    },
    {
      what: 'a reference',
      file: schema('MerchantAccountSummary'),
      edit: swap('$ref: ./Timestamp.yaml', '$reff: ./Timestamp.yaml'),
      at: '$reff:',
      says: 'Property `$reff` is not expected here. Did you mean `$ref`?',
    },
    {
      what: 'a keyword, and not what its object lacks without it',
      file: schema('GiftCardBalanceNew'),
      edit: swap(/pattern: .*/u, 'fromat: uuid'),
      at: 'fromat: uuid',
      says: 'Property `fromat` is not expected here. Did you mean `format`?',
    },
    {
      what: 'a reference that is no text, whose name is right',
      file: schema('TransactionCreatedEvent'),
      edit: swap('$ref: ./Timestamp.yaml', '$ref: 5'),
      at: '$ref: 5',
      says: 'Property `$ref` is not expected here',
    },
    {
      what: 'a keyword of OpenAPI 3.0',
      file: schema('CountryCode'),
      edit: swap('type: string', 'type: string\nnullable: true'),
      at: 'nullable: true',
      says: "OpenAPI 3.1 has no `nullable`. Write `type: [string, 'null']`",
    },
    {
      what: 'a property in camelCase that is required, and in examples, by its right name',
      file: schema('PaymentMethod'),
      edit: swap('  created_at:\n', '  createdAt:\n'),
      at: 'createdAt:',
      says: '"createdAt" must be snake_case: rename it to "created_at".',
    },
    {
      what: 'a path, where it is written, and not that its scope has another name',
      file: 'openapi.yaml',
      edit: swap('/gift-cards/balances:', '/gift_cards/balances:'),
      at: '/gift_cards/balances:',
      says: 'does not use kebab-case. Write it in lower case, with hyphens',
    },
    {
      what: 'a required property',
      file: schema('Buyer'),
      edit: swap('- display_name', '- display_nme'),
      at: '- display_nme',
      says: 'There is no property `display_nme`. Did you mean `display_name`? Otherwise define it, or do not require it.',
    },
    {
      what: 'an extension',
      file: 'paths/transactions.yaml',
      edit: swap('x-merchant-scope', 'x-merchant-scop'),
      at: 'x-merchant-scop:',
      says: 'The extension x-merchant-scop is not allowed here. Did you mean `x-merchant-scope`?',
    },
    {
      what: 'a field of an operation',
      file: 'paths/api-key-pairs.yaml',
      edit: swap('operationId', 'operationid'),
      at: 'operationid:',
      says: 'Property `operationid` is not expected here. Did you mean `operationId`?',
    },
  ],
  'what is almost right': [
    {
      what: 'nullable beside a reference, and not the examples that cannot be checked',
      file: schema('Buyer'),
      edit: swap('    $ref: ./Timestamp.yaml', '    $ref: ./Timestamp.yaml\n    nullable: true'),
      at: 'nullable: true',
      says: "OpenAPI 3.1 has no `nullable`. Write instead of both lines:\n  anyOf:\n    - $ref: ./Timestamp.yaml\n    - type: 'null'",
    },
    {
      what: 'a format of an input, and not that it lacks a limit',
      file: schema('GiftCardBalanceStored'),
      edit: swap('format: uuid', 'format: uid'),
      at: 'format: uid',
      says: 'The format `uid` is not known here. Did you mean `uuid`?',
    },
    {
      what: 'limits that exclude each other, and not what does not match them',
      file: schema('FreeText'),
      edit: swap('minLength: 1', 'minLength: 1000'),
      at: 'minLength: 1000',
      says: 'Nothing can match: minLength 1000 is more than maxLength 200.',
    },
    {
      what: 'properties that are not indented, and not that they are missing',
      file: schema('Creator'),
      edit: (text) => text.replace(/ {2}name:[\s\S]*/u, (all) => all.replaceAll(/^ {2}/gmu, '')),
      at: 'name:',
      says: '`name`, `email_address`, `thumbprint` are properties of this object. Indent them below `properties:`.',
    },
    {
      what: 'a status, and not that its schema is wrong',
      file: 'paths/payment-methods.yaml',
      edit: swap("'409'", "'4009'"),
      at: "'4009'",
      says: "`4009` is no status. Write its three digits in quotes, such as '409'.",
    },
    {
      what: 'the place of a parameter, and not that lists lack it',
      file: 'components/parameters/Cursor.yaml',
      edit: swap('in: query', 'in: qurey'),
      at: 'in: qurey',
      says: '`in` cannot be `qurey`. Did you mean `query`?',
    },
    {
      what: 'a tag',
      file: 'paths/card-scheme-definitions.yaml',
      edit: swap('tags: [Card schemes]', 'tags: [Card scheme]'),
      at: 'tags: [Card scheme]',
      says: 'There is no tag `Card scheme`. Did you mean `Card schemes`?',
    },
    {
      what: 'null without quotes',
      file: schema('Method'),
      edit: swap('type: string', 'type: [string, null]'),
      at: 'type: [string, null]',
      says: "Put it in quotes: 'null'.",
    },
    {
      what: 'required on a property',
      file: schema('PaymentService'),
      edit: swap('  id:\n', '  id:\n    required: true\n'),
      at: 'required: true',
      says: 'Remove this line, and list `id` in the `required` of the object that has it.',
    },
    {
      what: 'a limit of OpenAPI 3.0',
      file: schema('Amount'),
      edit: swap('type: integer', 'type: integer\nexclusiveMinimum: true'),
      at: 'exclusiveMinimum: true',
      says: 'In OpenAPI 3.1, `exclusiveMinimum` is the limit itself: write `exclusiveMinimum: 0`',
    },
  ],
  'a new required field that the examples lack': [
    {
      what: 'the example that the others are made from',
      file: schema('Transaction'),
      edit: (text) =>
        swap(
          '  - merchant_account_id\n',
          '  - installments\n  - merchant_account_id\n',
        )(
          swap(
            'properties:\n',
            'properties:\n  installments:\n    description: How many.\n    type: integer\n',
          )(text),
        ),
      shows: example('TransactionCaptureSucceeded'),
      at: 'value:',
      says: "The schema requires 'currency', 'installments', which this example lacks. Add them here.",
    },
    {
      what: 'what else that example lacks',
      file: example('TransactionCaptureSucceeded'),
      edit: cut(/^ {2}currency: .*\n/mu),
      at: 'value:',
      says: "The schema requires 'currency', 'installments', which this example lacks. Add them here.",
    },
    {
      what: 'a property that the schema does not have, of an object that may also be null',
      file: example('BuyerJaneDoe'),
      edit: swap('  id: ', '  colour: red\n  id: '),
      at: 'colour: red',
      says: 'it has no property `colour`. Add it to the schema, or remove it here.',
    },
    {
      what: 'an example of what may also be null',
      file: schema('TransactionBuyer'),
      edit: (text) =>
        swap(
          'required: [',
          'required: [tier, ',
        )(swap('properties:\n', 'properties:\n  tier:\n    description: Which.\n    type: string\n')(text)),
      shows: example('TransactionBuyerJaneDoe'),
      at: 'value:',
      says: "The schema requires 'tier', which this example lacks. Add it here.",
    },
  ],
  'a property that a schema no longer has': [
    {
      what: 'the first of the examples that have it, and the others',
      file: schema('Transaction'),
      edit: (text) => cut('  - reconciliation_id\n')(cut(/^ {2}reconciliation_id:\n(?: {4}.*\n)+/mu)(text)),
      shows: example('TransactionProcessing'),
      at: 'reconciliation_id: ',
      says: 'it has no property `reconciliation_id`. Add it to the schema, or remove it here, and in:\n    openapi/components/examples/Transaction',
    },
    {
      what: 'a misspelt value of a list',
      file: example('TransactionProcessing'),
      edit: swap('status: processing', 'status: procesing'),
      at: 'status: procesing',
      says: 'This example does not match its schema: `status` has no value `procesing`. Did you mean `processing`?',
    },
  ],
  'files that are not YAML': [
    {
      what: 'a list that never ends, in the root file',
      file: 'openapi.yaml',
      edit: swap('tags:\n', 'tags: [\n'),
      at: 'tags: [',
      says: 'A [ is opened here and never closed. Close it.',
    },
    {
      what: 'a key that is there twice',
      file: schema('ApiKeyPair'),
      edit: swap('type: object\n', 'type: object\ntype: object\n'),
      at: 'type: object',
      says: '`type` is already in line 2. Remove one of the two, or merge them.',
    },
    {
      what: 'a reference that is a comment, for lack of quotes',
      file: schema('MerchantAccountSummary'),
      edit: swap('$ref: ./Timestamp.yaml', '$ref: #/components/schemas/Timestamp'),
      at: '$ref: #/components/schemas/Timestamp',
      says: "Can't resolve $ref #/components/schemas/Timestamp: every component is a file. Write ./Timestamp.yaml",
    },
    {
      what: 'a reference to nothing',
      file: 'paths/transactions.yaml',
      edit: swap('- $ref: ../components/parameters/Cursor.yaml', '- $ref:'),
      at: '- $ref:',
      says: 'This $ref is empty. Name a file that exists, relative to this one.',
    },
    {
      what: 'an empty file',
      file: schema('CountryCode'),
      edit: () => '',
      at: '',
      says: 'This file is empty.',
    },
    {
      what: 'a tab',
      file: schema('Buyer'),
      edit: swap('  - type\n', '\t- type\n'),
      at: '\t- type',
      says: '\t- type\n    | ^\n  YAML does not allow tabs for indentation. Replace the tab by two spaces.',
    },
    {
      what: 'a missing colon after the key of a list',
      file: schema('Transaction'),
      edit: swap('required:\n', 'required\n'),
      at: 'required',
      says: 'A colon is missing. Write: required:\n',
    },
    {
      what: 'a missing colon before a value',
      file: schema('GiftCardRedemption'),
      edit: swap('    type: string', '    type string'),
      at: 'type string',
      says: 'A colon is missing. Write: type: string',
    },
    {
      what: 'a colon in a value without quotes',
      file: schema('Role'),
      edit: swap('description: ', "description: Don't: "),
      at: "description: Don't: ",
      says: "The value of description contains a colon, so it needs quotes. Write: description: 'Don''t: ",
    },
    {
      what: 'a comment within a text of two lines',
      file: schema('TaxId'),
      edit: swap(/^description: .*/u, 'description: Number # 1\n  of the list.'),
      at: 'description: Number # 1',
      says: 'A comment begins here, so the next line is no part of the text.',
    },
    {
      what: 'a missing space after the colon',
      file: schema('Address'),
      edit: swap('type: object', 'type:object'),
      at: 'type:object',
      says: 'A space is missing after the colon. Write: type: object',
    },
    {
      what: 'a line that is indented too deep',
      file: schema('PaymentService'),
      edit: swap('    const: payment', '      const: payment'),
      at: '      const: payment',
      says: 'is indented deeper than line',
    },
    {
      what: 'properties that are not indented at all',
      file: schema('GiftCardBalance'),
      edit: (text) => text.replace(/(?<=^properties:\n)[\s\S]*/mu, (all) => all.replaceAll(/^ {2}/gmu, '')),
      at: 'properties:',
      says: 'There is nothing below `properties:`. Indent `type` and what follows deeper, or this line less.',
    },
    {
      what: 'a value that begins with a backtick',
      file: schema('Method'),
      edit: swap(/^description: .*/u, 'description: `card`, always.'),
      at: 'description: `card`',
      says: "A value that begins with ` needs quotes. Write: description: '`card`, always.'",
    },
    {
      what: 'a missing dash before a name',
      file: schema('PaymentMethod'),
      edit: swap('  - id\n', '  id\n'),
      at: '  id',
      says: 'A dash is missing. Write: - id',
    },
    {
      what: 'a missing dash before a reference',
      file: 'paths/webhook-subscriptions.yaml',
      edit: swap(
        '- $ref: ../components/parameters/Cursor.yaml',
        '$ref: ../components/parameters/Cursor.yaml',
      ),
      at: '    $ref: ../components/parameters/Cursor.yaml',
      says: 'A dash is missing. Write: - $ref: ../components/parameters/Cursor.yaml',
    },
    {
      what: 'a quote that is not closed',
      file: example('MerchantAccountDefault'),
      edit: swap('display_name: Default', 'display_name: "Default'),
      at: 'display_name: "Default',
      says: 'A quote is opened here and never closed.',
    },
  ],
};

describe.each(Object.entries(projects))('%s', (_name, faults) => {
  let status: number | null;
  let output: string;
  const lines = new Map<string, string[]>();

  beforeAll(async () => {
    const edits: Edits = Object.fromEntries(faults.map(({ file, edit }) => [file, edit]));
    await using project = await brokenProject(edits);
    ({ status, output } = await runNode('scripts/lint.ts', ['--contract'], { cwd: project.folder }));
    for (const { file, shows = file } of faults) {
      lines.set(shows, (await readFile(join(project.folder, 'openapi', shows), 'utf8')).split('\n'));
    }
  }, 120_000);

  it('fails', () => {
    expect(status).toBe(1);
    expect(output).toContain('✗ The contract keeps the house rules');
  });

  it('says each fault once, and no consequences of it', () => {
    const places = output.match(/^openapi\/\S+:\d+:\d+ /gm) ?? [];
    expect(new Set(places).size).toBe(places.length);
    expect(places.length).toBeLessThanOrEqual(faults.length);
    // What follows from a path, a parameter or a property with a wrong name.
    expect(output).not.toMatch(/Name the file after|add the query parameter|no property `created(_at|At)`/);
    // Other places of the same fault are in other files.
    for (const message of output.split('\n\n')) {
      const [, file = 'nothing'] = /^(openapi\/[^:]+):/.exec(message) ?? [];
      expect(message.split('Also seen')[1] ?? '').not.toContain(file);
    }
    expect(output).toMatch(new RegExp(`^${places.length} problems?$`, 'm'));
    expect(output).not.toMatch(/Example validation errored|must NOT|must match/);
    // What follows from misspelt names.
    expect(output).not.toMatch(/'display_nme', which|Set x-merchant-scope|should contain `operationId`/);
    expect(output).not.toMatch(
      /a maxLength|npm run new -- error|`\$ref` is not expected here\. Did you mean/,
    );
  });

  it.each(faults)('names file and line of $what', ({ file, shows = file, at, says }) => {
    expect(output).toContain(says);
    const named = [...output.matchAll(new RegExp(`${shows.replaceAll('.', '\\.')}(?::|".*\\()(\\d+)`, 'gu'))];
    const texts = named.map(([, line]) => lines.get(shows)?.[Number(line) - 1]);
    expect(texts).toContainEqual(expect.stringContaining(at));
  });
});

describe('npm run lint', () => {
  const lint = (cwd: string, ...args: string[]) => runNode('scripts/lint.ts', args, { cwd });

  it('--json tells programs what is wrong, and where', { timeout: 60_000 }, async () => {
    await using project = await brokenProject({ [schema('Intent')]: swap('[authorize,', '[authorize, 7,') });
    const { status, output } = await lint(project.folder, '--contract', '--json');
    expect(status).toBe(1);
    expect(JSON.parse(output)).toMatchObject({
      ok: false,
      steps: [
        {
          id: 'contract',
          ok: false,
          fix: 'Edit the files named above; each message says how.',
          problems: [{ rule: 'no-enum-type-mismatch', file: `openapi/${schema('Intent')}`, line: 3 }],
        },
      ],
    });
  });

  it('lists what is unfinished, which is no fault yet', { timeout: 60_000 }, async () => {
    await using project = await brokenProject({ [schema('Intent')]: swap('\n', ' # TODO: say it\n') });
    const { status, output } = await lint(project.folder, '--contract');
    expect(status).toBe(0);
    expect(output).toMatch(new RegExp(`openapi/${schema('Intent')}:1:\\d+ todo\\n`));
    expect(output).toContain('Unfinished, so it cannot be released yet.');
  });

  it('says only that an operationId is taken, and by which operation', { timeout: 60_000 }, async () => {
    const file = 'paths/webhook-subscriptions.yaml';
    await using project = await brokenProject({
      [file]: swap('createWebhookSubscription', 'listWebhookSubscriptions'),
      'paths/payment-methods.yaml': swap('summary: Store', 'summary: store'),
    });
    const lines = (await readFile(join(project.folder, 'openapi', file), 'utf8')).split('\n');
    const owner = lines.lastIndexOf('  operationId: listWebhookSubscriptions') + 1;
    const { output } = await lint(project.folder, '--contract', '--json');
    const { steps } = JSON.parse(output) as { steps: { problems: unknown[] }[] };
    expect(steps[0]?.problems).toMatchObject([
      {
        file: `openapi/${file}`,
        line: 2,
        message:
          '`listWebhookSubscriptions` is already the operationId of GET /webhook-subscriptions ' +
          `(openapi/${file}:${owner}). Give this one a name of its own.`,
      },
      { rule: 'rule/summary' },
    ]);
  });

  it('says nothing but the claim when it holds', { timeout: 60_000 }, async () => {
    const { status, output } = await run('npm', ['run', '-s', 'lint', '--', '--contract']);
    expect(output).toMatch(/^✓ The contract keeps the house rules, .* \(\d+(\.\d)? s\)\n$/u);
    expect(status).toBe(0);
  });

  it('--types says that generated/ is older than openapi/', { timeout: 120_000 }, async () => {
    await using project = await brokenProject({});
    const write = (file: string, text: string) => writeFile(join(project.folder, file), text);
    await write(
      'tsconfig.json',
      '{ "compilerOptions": { "strict": true, "skipLibCheck": true, "types": [] }, "include": ["x.ts"] }',
    );
    await write(
      'scripts/docs/browser/tsconfig.json',
      '{ "extends": "../../../tsconfig.json", "include": ["x.ts"] }',
    );
    await write('scripts/docs/browser/x.ts', 'export {};\n');
    const types = () => lint(project.folder, '--types', '--fresh');

    await write('x.ts', 'export {};\n');
    expect(await types()).toMatchObject({
      status: 0,
      output: expect.stringMatching(
        /^✓ The code compiles, but openapi\/ is newer: npm run generate/,
      ) as string,
    });
    const faulty = Array.from({ length: 7 }, (_, index) => `export const x${index}: number = 'x';\n`);
    await write('x.ts', faulty.join(''));
    const stale = await types();
    expect(stale.status).toBe(1);
    expect(stale.output).toContain('generated/ is older than openapi/');
    expect(stale.output).toContain('Run: npm run generate, then lint again.');
    expect(stale.output.match(/TS2322/g)).toHaveLength(5);
    expect(stale.output).toContain('… and 2 more');

    await mkdir(join(project.folder, 'generated'));
    await write('generated/openapi.sha256', await contractDigest(project.folder));
    const current = await types();
    expect(current.output).not.toContain('generate');
    expect(current.output.match(/TS2322/g)).toHaveLength(7);
  });

  it('refuses an option that does not exist, and shows those that do', { timeout: 60_000 }, async () => {
    const { status, output } = await lint(root, '--contrct');
    expect(status).toBe(2);
    expect(output).toContain("Unknown option '--contrct'");
    expect(output).toContain('--contract');
  });
});
