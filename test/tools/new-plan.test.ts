// What `npm run new` writes, with marks at what its author has to write, and what it refuses. test/tools/changes.test.ts runs what
// is written.
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { planOf, readCall, WrongCall } from '../../scripts/new/call.ts';
import { appendField } from '../../scripts/new/contract-text.ts';
import { carryOut, Refusal } from '../../scripts/new/plan.ts';
import { root as projectRoot } from '../../scripts/support/root.ts';
import { runNode } from '../support/processes.ts';

it('marks what its author has to write', async () => {
  const { write } = await planOf(projectRoot, readCall(['operation', 'GET', '/unicorns']));
  expect(Object.values(write).join('')).toMatch(/^ *\w+: .* # TODO: say /m);
});

/** The lines that a call adds, by file. */
async function addedBy(...args: string[]): Promise<Record<string, string[]>> {
  const { write, edit } = await planOf(projectRoot, readCall(args));
  const added = Object.entries(write).map(([file, text]): [string, string[]] => [file, text.split('\n')]);
  for (const [file, change] of Object.entries(edit)) {
    const before = await readFile(join(projectRoot, file), 'utf8');
    const known = new Set(before.split('\n'));
    added.push([file, (await change(before)).split('\n').filter((line) => !known.has(line))]);
  }
  return Object.fromEntries(added.map(([file, lines]) => [file.replace(/\d{4}-/, ''), lines]));
}

it('an operation on one record shares the 404 of all others', async () => {
  const added = await addedBy('operation', 'GET', '/unicorns/{unicorn_id}');
  expect(Object.keys(added).filter((file) => /responses|NotFound/.test(file))).toEqual([]);
  expect(added['openapi/paths/unicorns_{unicorn_id}.yaml']).toContain(
    '      $ref: ../components/responses/NotFound.yaml',
  );
});

it('an event shows a record of the examples, and has an ID of its own', async () => {
  const { write, edit } = await planOf(projectRoot, readCall(['event', 'payment-method.erased']));
  const shown = parse(write['openapi/components/examples/EventPaymentMethodErased.yaml'] ?? '') as {
    value: { id: string; created_at: string; target: { updated_at: string } };
  };
  const file = 'openapi/components/examples/EventPaymentMethodUpdated.yaml';
  const other = parse(await readFile(join(projectRoot, file), 'utf8')) as typeof shown;
  expect(shown.value.created_at).toBe(shown.value.target.updated_at);
  expect(shown.value.id).not.toBe(other.value.id);
  const before = await readFile(join(projectRoot, 'openapi/openapi.yaml'), 'utf8');
  const map = edit['openapi/openapi.yaml'];
  expect(parse(await (map?.(before) ?? ''))).toMatchObject({
    webhooks: { 'payment-method.erased': { $ref: './webhooks/payment-method.erased.yaml' } },
  });
  const withoutEvents = before.replace(/^webhooks:\n( .*\n)+/m, '');
  expect(parse(await (map?.(withoutEvents) ?? ''))).toMatchObject({
    webhooks: { 'payment-method.erased': {} },
  });
});

it('an action is a POST below the path of its record, with the parameter that this has', async () => {
  const project = await mkdtemp(join(tmpdir(), 'new-plan-'));
  await cp(join(projectRoot, 'openapi'), join(project, 'openapi'), { recursive: true });
  const make = async (call: string) => {
    const plan = await planOf(project, readCall(call.split(' ')));
    await carryOut(project, plan);
    return plan.write;
  };
  await make('operation GET /pet-toys/{toy_id}');
  const written = await make('action lend-out --on PetToy');
  expect(Object.keys(written).sort()).toEqual([
    'openapi/components/responses/UnprocessableIdempotencyKey.yaml',
    'openapi/paths/pet-toys_{toy_id}_lend-out.yaml',
  ]);
  expect(parse(written['openapi/paths/pet-toys_{toy_id}_lend-out.yaml'] ?? '')).toMatchObject({
    post: { operationId: 'lendOutPetToy', summary: 'Lend out a pet toy', tags: ['Pet toys'] },
  });
  await rm(project, { recursive: true });
});

it('a field of a buyer is erased with it', async () => {
  const added = await addedBy(
    'field',
    'horn',
    '--in',
    'Buyer',
    '--values',
    'long,short',
    '--erasure',
    'erased',
  );
  expect(added).toMatchObject({
    'openapi/components/schemas/Horn.yaml': expect.arrayContaining(['enum: [long, short]']) as unknown,
    'openapi/components/examples/PaymentMethodVisaSucceeded.yaml': ['    horn: long'],
    'server/resources/buyers/table.ts': ["  horn: 'text',"],
    'server/resources/buyers/facts.ts': ["    horn: 'erased',"],
  });
  // The buyer of a transaction has a schema of its own.
  expect(Object.keys(added).filter((file) => file.includes('/examples/Transaction'))).toEqual([]);
  expect(added['server/migrations/buyers-horn.ts']?.join('\n')).toContain(
    'alter table buyers add column horn text`',
  );
});

it.each([
  ['ApiKeyPair', 'kit/access/key-pairs', 'boolean', 'boolean'],
  ['MerchantAccountSummary', 'kit/access/accounts', 'uuid', 'uuid'],
  ['WebhookSubscription', 'kit/events/subscriptions', 'date-time', 'timestamptz'],
  ['Role', 'kit/access/roles', 'integer', 'integer'],
  ['Role', 'kit/access/roles', 'amount', 'bigint'],
])('a field of %s is a nullable column of %s', async (owner, file, type, column) => {
  const added = await addedBy('field', 'shoe', '--in', owner, '--type', type);
  expect(added[`server/${file}/table.ts`]).toEqual([`  shoe: '${column}',`]);
  expect(added[`openapi/components/schemas/${owner}.yaml`]).toContain(
    '    description: The shoe; null when there is none. # TODO: say what it is',
  );
  expect(Object.keys(added).some((path) => path.includes('/examples/'))).toBe(true);
  expect(Object.keys(added).some((path) => /facts/.test(path))).toBe(false);
});

it('a field is in every example of its resource, at every place', async () => {
  const added = await addedBy(...'field shoe --in Transaction --erasure kept'.split(' '));
  const places = Object.entries(added)
    .filter(([file]) => file.includes('/examples/'))
    .map(([file, lines]) => [file.replace('openapi/components/examples/', ''), ...lines]);
  const item = '      shoe: Example';
  expect(places).toEqual([
    ['EventTransactionCreated.yaml', '    shoe: Example'],
    ['EventTransactionUpdated.yaml', '    shoe: Example'],
    ['TransactionsFirstPage.yaml', ...Array.from({ length: 9 }, () => item)],
    ['TransactionsLastPage.yaml', item],
  ]);
});

it('a field is written into an example in braces, too', () => {
  const item = (end: string) =>
    `value:\n  items:\n    - { type: role, allow: { all: true }${end} } # One.\n  limit: 1\n`;
  expect(appendField(['value', 'items', '0'], 'shoe: 5')(item(''))).toBe(item(', shoe: 5'));
});

it('shows a record that other examples show, if none shows it alone', async () => {
  const { write } = await planOf(projectRoot, readCall('operation GET /buyers'.split(' ')));
  const file = 'openapi/components/examples/PaymentMethodVisaSucceeded.yaml';
  const { value } = parse(await readFile(join(projectRoot, file), 'utf8')) as { value: { buyer: object } };
  const page = write['openapi/components/examples/BuyerCollectionOnlyPage.yaml'] ?? '';
  expect(parse(page)).toMatchObject({ value: { items: [value.buyer] } });
  // Quotes as in its source: other parsers of YAML would make a time of it.
  expect(page).toContain("created_at: '2026-10-20T12:00:00.000Z'");
});

it('never says that a field is erased where nothing erases it', async () => {
  const call = readCall('field shoe --in WebhookSubscription --erasure erased'.split(' '));
  await expect(planOf(projectRoot, call)).rejects.toThrow('Nothing of WebhookSubscription is erased');
});

it('a table has a column for each property of its schema, and what every table has', async () => {
  const added = await addedBy(
    'table',
    'gift_card_redemptions',
    '--erasure',
    'gift_card_service_redemption_id=kept,error_code=kept,raw_error_code=kept,raw_error_message=erased,gift_card=kept',
  );
  expect(added['server/migrations/gift-card-redemptions.ts']?.map((line) => line.trim())).toEqual(
    expect.arrayContaining([
      'merchant_account_id text not null references merchant_accounts,',
      'created_at timestamptz(3) not null default now(),',
      'id uuid not null default gen_random_uuid(),',
      'status text not null,',
      'amount bigint not null,',
      'raw_error_message text,',
      'gift_card jsonb,',
    ]),
  );
  expect(added).toMatchObject({
    'server/resources/gift-card-redemptions/table.ts': expect.arrayContaining([
      '    gift_card_redemptions: GiftCardRedemptionsTable;',
    ]) as unknown,
    'server/resources/gift-card-redemptions/facts.ts': expect.arrayContaining([
      "    raw_error_message: 'erased',",
      "    gift_card_service_redemption_id: 'kept',",
    ]) as unknown,
    'server/resources/facts.ts': [
      "import { giftCardRedemptions } from './gift-card-redemptions/facts.ts';",
      '  gift_card_redemptions: giftCardRedemptions,',
    ],
  });
});

it('a table of a resource with an event has an insert that takes it, and asks only about what can describe a person', async () => {
  const project = await mkdtemp(join(tmpdir(), 'new-plan-'));
  for (const part of ['openapi', 'server/migrations', 'server/resources'])
    await cp(join(projectRoot, part), join(project, part), { recursive: true });
  const make = async (call: string) => {
    await carryOut(project, await planOf(project, readCall(call.split(' '))));
  };
  const read = (file: string) => readFile(join(project, file), 'utf8');
  await make('operation POST /pets');
  const pet = 'openapi/components/schemas/Pet.yaml';
  const kind = '  kind:\n    description: What it is.\n    type: string\n    enum: [cat, dog]\n';
  const currency = "  currency:\n    anyOf:\n      - $ref: ./CurrencyCode.yaml\n      - type: 'null'\n";
  await writeFile(join(project, pet), (await read(pet)) + kind + currency);
  await writeFile(join(project, 'openapi/webhooks/pet.created.yaml'), 'post: {}\n');
  await make('table pets --erasure display_name=erased');
  expect(await read('server/resources/pets/queries.ts')).toContain('db: EventTx');
  expect(await read('server/resources/pets/changes.ts')).toContain(
    "withEvent(unit, 'pet.created', presentPet",
  );
  const facts = (await read('server/resources/pets/facts.ts')).replace(/\s+/g, ' ');
  expect(facts).toMatch(/ erasure: \{ [^}]*display_name: 'erased',[^}]* kind: 'kept', currency: 'kept'/);
  await make('operation PATCH /pets/{id}');
  const { next } = await planOf(project, readCall('field colour --in Pet'.split(' ')));
  expect(next).toContain(
    'If callers give it, add it to openapi/components/schemas/PetCreate.yaml and openapi/components/schemas/PetUpdate.yaml',
  );
  await make('operation POST /toys');
  const own = 'server/resources/toys/queries.ts';
  await mkdir(join(project, 'server/resources/toys'));
  await writeFile(join(project, own), '// Mine.\n');
  await make('table toys --erasure display_name=kept');
  expect(await read(own)).toBe('// Mine.\n');
  // As most tables.
  expect(await read('server/resources/toys/facts.ts')).not.toContain('erasure');
  await rm(project, { recursive: true });
});

it('does what its help shows, in this order', async () => {
  const copy = await mkdtemp(join(tmpdir(), 'new-plan-'));
  for (const part of ['openapi', 'server/resources', 'server/handlers', 'server/migrations'])
    await cp(join(projectRoot, part), join(copy, part), { recursive: true });
  const { output } = await runNode('scripts/new.ts', ['--help']);
  const calls = [...output.matchAll(/^ {2}npm run new -- (.*?) {2,}/gm)].map(([, call = '']) => call);
  expect(calls.length).toBeGreaterThan(4);
  for (const call of calls) {
    const carriedOut = planOf(copy, readCall(call.split(' '))).then((plan) => carryOut(copy, plan));
    await expect(carriedOut, call).resolves.not.toEqual([]);
  }
  await rm(copy, { recursive: true });
});

it("does what the designers' guide shows", async () => {
  const guide = await readFile(join(projectRoot, 'docs/guides/api-designer.md'), 'utf8');
  const calls = [...guide.matchAll(/`npm run new -- (\w+ [^`]+)`/g)].map(([, call = '']) => call);
  expect(calls.length).toBeGreaterThan(2);
  for (const call of calls) {
    const planned = planOf(projectRoot, readCall(call.split(' '))).then(
      ({ write }) => Object.keys(write).join(' '),
      // Somebody has done what the guide shows.
      (error: unknown) => (error instanceof Refusal ? error.message : ''),
    );
    await expect(planned, call).resolves.toMatch(/openapi\/|server\/| already/);
  }
});

it.each([
  ['operation GET /transactions', 'GET /transactions exists already'],
  ['operation TRACE /unicorns', 'none of POST, GET, PUT, PATCH, DELETE'],
  ['operation DELETE /pet-notes', 'operation DELETE /pet-notes/{pet_note_id}'],
  ['operation PATCH /unicorns/{unicorn_id} --id changeUnicorn', 'begins with update'],
  ['operation GET /petNotes', 'lower case with hyphens'],
  ['operation GET /unicorns --id fetchUnicorns', 'begins with list or get'],
  ['operation POST /pet-notes/{note_id}', 'operation POST /pet-notes'],
  ['event buyers', 'event refund-reason.created'],
  ['event transaction.updated', 'The event transaction.updated exists already'],
  ['event unicorn.created', 'Write an operation first: npm run new -- operation POST /unicorns'],
  ['action cancel', 'Name the schema of the record: action cancel --on Booking'],
  ['action Cancel --on Transaction', 'a verb in lower case'],
  ['action cancel --on LedgerEntry', 'Write it first: npm run new -- operation POST /ledger-entries'],
  ['field Shoe --in Buyer', 'snake_case'],
  ['field shoe --in Buyer --values Minor', 'in lower case'],
  ['table gift_card_redemptions', '--erasure gift_card_service_redemption_id=erased'],
  [
    'table gift_card_redemptions --erasure error_code=keep',
    '--erasure gift_card_service_redemption_id=erased',
  ],
  ['table gift_card_redemptions --erasure erased', '--erasure gift_card_service_redemption_id=erased'],
  ['table petNotes', 'table refund_reasons'],
  ['table pet_note', 'in the plural: table pet_notes'],
  ['table buyers', 'The table buyers exists already'],
  ['table ledger_entries', 'There is no schema LedgerEntry. Write it first'],
  ['field shoe', 'These are stored: '],
  ['field shoe --in TaxId', 'TaxId is not stored: no table of server/resources describes it. These are: '],
  ['field status --in Transaction', 'has the field status already'],
  ['field fee_amount --in Role --type integer', 'An amount has a type of its own: --type amount'],
  [
    'field shoe --in Role --type strng',
    'These exist: string, integer, amount, boolean, date-time, uuid; for an enum',
  ],
  ['field shoe --in Transaction', '--erasure erased'],
])('refuses %s and says why', async (call, reason) => {
  const planned = planOf(projectRoot, readCall(call.split(' ')));
  await expect(planned).rejects.toThrow(reason);
  await expect(planned).rejects.toBeInstanceOf(Refusal);
});

it.each(['', 'unicorn', 'operation /buyers', 'table --unicorn'])('does not understand "%s"', async (call) => {
  const planned = (async () => planOf(projectRoot, readCall(call === '' ? [] : call.split(' '))))();
  await expect(planned).rejects.toBeInstanceOf(WrongCall);
});
