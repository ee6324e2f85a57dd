// `payments import transactions` imports all of a file or nothing. What it does with cards is in test/service/import-cards.test.ts.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveKeys } from '../../server/kit/secrets/derive-keys.ts';
import { importTransactions } from '../../server/resources/transactions/changes.ts';
import type { NewTransaction } from '../../server/resources/transactions/queries.ts';
import { createSamples } from '../../server/sandbox/sample-transactions.ts';
import { eventually } from '../support/data-dir.ts';
import { paymentsHere } from '../support/in-process.ts';
import { createPayments, paymentsWithoutSpace, root, startNode } from '../support/processes.ts';
import { allCases } from '../support/random.ts';
import { insertTransactionsIn, silentWork } from '../support/records.ts';
import { startTestService, type TestService } from '../support/service.ts';
import {
  buyer,
  paymentMethod,
  redemption,
  transaction,
  type FullTransaction,
} from '../support/transactions.ts';

let service: TestService;
let folder: string;
let env: Record<string, string | undefined>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'payments-import-'));
  service = await startTestService();
  env = { DATABASE_URL: service.config.databaseUrl, DATA_DIR: service.config.dataDir };
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Without the progress, which a slow machine tells. */
const payments = async (args: string[], input?: string | Readable) => {
  const { stderr, ...ended } = await paymentsHere(args, env, input);
  return { ...ended, stderr: stderr.replaceAll(/^Importing: .*\n/gm, '') };
};
const db = () => service.service.database.db;
const total = async () => {
  const { rows } = await sql<{ total: number }>`select count(*) as total from transactions`.execute(db());
  return rows[0]?.total ?? 0;
};
const isThere = async (id: string) =>
  (await db().selectFrom('transactions').select('id').where('id', '=', id).execute()).length === 1;

/** Resolves when a statement that begins like this waits for a lock. */
const untilItWaits = (like: string) =>
  eventually(async () => {
    const { rows } = await sql`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and query like ${like}`.execute(db());
    return rows.length > 0;
  }, `${like} waits`);

const line = (given: Partial<NewTransaction> = {}) => JSON.stringify(transaction(given));
const importText = (text: string, ...options: string[]) =>
  payments(['import', 'transactions', '-', ...options], text);
const seeded = (index: number, seed = 77): FullTransaction =>
  transaction(
    createSamples('default', {
      seed,
      until: new Date('2025-06-01T00:00:00Z'),
      keys: deriveKeys(Buffer.alloc(32)),
    })(index),
  );

describe('a good file', () => {
  it('may have the lines that --help and the guide show', async () => {
    const lineIn = (text: string) => /^ *\{"type":"transaction".*\}$/m.exec(text)?.[0] ?? '';
    const withBuyer = lineIn((await payments(['import', 'transactions', '--help'])).stdout);
    const inGuide = lineIn(await readFile(join(root, 'docs/guides/operator.md'), 'utf8'));
    for (const line of [inGuide, withBuyer])
      expect(await importText(line.trim())).toMatchObject({ status: 0, stdout: 'Imported 1 transaction.\n' });
    expect(JSON.parse(withBuyer)).toMatchObject({
      buyer: { type: 'buyer' },
      payment_method: { method: 'card' },
    });
  });

  it('is imported unchanged', async () => {
    const rows = Array.from({ length: 120 }, (_, index) => seeded(index));
    const file = join(folder, 'good.jsonl');
    await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const { status, stdout, stderr } = await payments(['import', 'transactions', file]);
    expect([status, stdout, stderr]).toEqual([0, 'Imported 120 transactions.\n', '']);

    const listed: unknown[] = [];
    const filter = encodeURIComponent(JSON.stringify({ seed: '77' }));
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await service.call(
        'GET',
        `/transactions?limit=50&metadata=${filter}${cursor && `&cursor=${cursor}`}`,
        { token: service.token('transactions.read') },
      );
      const page = body as { items: unknown[]; next_cursor: string | null };
      listed.push(...page.items);
      cursor = page.next_cursor;
    }
    const shown = rows.map((row) => {
      const { metadata, payment_source, merchant_initiated, is_subsequent_payment, ...rest } = row;
      const { payment_service_transaction_id, ...resource } = rest;
      expect([metadata, payment_source, merchant_initiated, is_subsequent_payment]).toBeDefined();
      expect(payment_service_transaction_id).toBeDefined();
      return resource;
    });
    expect(listed).toEqual(shown);
  });

  it('may leave out what may be null, in nested objects, too', async () => {
    const full = transaction({
      buyer: buyer(),
      payment_method: paymentMethod(),
      payment_service: {
        type: 'payment-service',
        id: randomUUID(),
        display_name: null,
        method: null,
        payment_service_definition_id: null,
      },
      gift_card_redemptions: [
        redemption({ gift_card: { type: 'gift-card', id: null, bin: null, sub_bin: null, last4: null } }),
        redemption(),
      ],
    });
    const text = JSON.stringify(full, (_, value: unknown) => value ?? undefined);
    expect(text).not.toContain('null');
    for (const options of [[], ['--events']]) {
      const id = randomUUID();
      expect(await importText(text.replace(full.id, id), ...options)).toMatchObject({
        status: 0,
        stderr: '',
      });
      const answer = await service.call('GET', `/transactions?id=${id}`, {
        token: service.token('transactions.read'),
      });
      expect((answer.body as { items: unknown[] }).items).toEqual([{ ...full, id }]);
    }
  });

  it('may have empty lines, CRLF, a byte order mark, no end of line, and texts that look like line ends', async () => {
    const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];
    const text = [
      `\ufeff${line({ id: a })}\r\n`,
      '\n   \r\n',
      `${line({ id: b, external_identifier: 'a\u2028b\u2029c\u0085d' })}\n`,
      // The contract accepts the year 0.
      line({ id: c, created_at: '0000-01-01T00:00:00.000Z', payment_method: paymentMethod() }),
    ].join('');
    const { status, stdout, stderr } = await importText(text);
    expect([status, stdout, stderr]).toEqual([0, 'Imported 3 transactions.\n', '']);
    const row = await db().selectFrom('transactions').selectAll().where('id', '=', b).executeTakeFirst();
    expect(row?.external_identifier).toBe('a\u2028b\u2029c\u0085d');
    expect(await isThere(c)).toBe(true);
  });

  it('may have a line of a megabyte', async () => {
    const id = randomUUID();
    const metadata = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`page-${index}`, 'x'.repeat(1_000)]),
    );
    const { status } = await importText(`${line({ id, metadata })}\n${line()}\n`);
    expect(status).toBe(0);
    const row = await db()
      .selectFrom('transactions')
      .select('metadata')
      .where('id', '=', id)
      .executeTakeFirst();
    expect(row?.metadata).toEqual(metadata);
  });

  it('has texts of at most 1,000 characters, or as many as the contract says', async () => {
    const novel = (length: number) => '𝄞'.repeat(length);
    const stored = { external_identifier: novel(1_000), raw_response_description: novel(1_000) };
    expect(await importText(line(stored))).toMatchObject({ status: 0 });
    const long = novel(1_001);
    const { status, stderr } = await importText(
      [
        line({ external_identifier: long }),
        line({ raw_response_code: 'x'.repeat(15_000_000) }),
        line({ buyer: { ...buyer(), display_name: long } }),
        line({ metadata: { [long]: 'x' } }),
        line({ metadata: { x: long } }),
        line({ payment_service_transaction_id: long }),
      ].join('\n'),
    );
    expect(status).toBe(1);
    const lines = stderr.split('\n').slice(0, 6);
    for (const [index, pointer] of [
      '/external_identifier',
      '/raw_response_code',
      '/buyer/display_name',
      '/metadata',
      '/metadata/x',
      '/payment_service_transaction_id',
    ].entries())
      expect(lines[index]).toMatch(new RegExp(`^line ${index + 1}: ${pointer} .*1,?000 characters`));
  });

  it('is checked and not imported with --dry-run', async () => {
    const before = await total();
    const { status, stdout } = await importText(`${line()}\n${line()}`, '--dry-run');
    expect([status, stdout]).toEqual([0, 'Checked 2 transactions. Nothing was imported (--dry-run).\n']);
    expect(await total()).toBe(before);
    const { stdout: skipped } = await importText(`${line()}\n{}`, '--dry-run', '--skip-bad');
    expect(skipped).toBe('Checked 1 transaction, left 1 bad line out. Nothing was imported (--dry-run).\n');
    expect(await total()).toBe(before);
  });

  it('may be empty', async () => {
    expect(await importText('')).toEqual({
      status: 0,
      stdout: 'Imported 0 transactions.\n',
      stderr: 'Standard input has no lines. If it should have some, check what writes it.\n',
    });
  });

  it.each([
    [['--skip-bad'], 0, { dry_run: false, imported: 1 }],
    [['--skip-bad', '--dry-run'], 0, { dry_run: true, imported: 0 }],
    [['--dry-run'], 1, { dry_run: true, imported: 0 }],
    [[], 1, { dry_run: false, imported: 0 }],
  ])('with --json and %j ends with %i and prints a summary for programs', async (more, code, summary) => {
    const { status, stdout, stderr } = await importText(`${line()}\n[]`, '--json', ...more);
    const reason = 'is not a JSON object';
    const told = {
      bad_lines: 1,
      existing_lines: 0,
      reasons: [{ reason, lines: 1 }],
      errors: [{ line: 2, reason }],
    };
    expect([status, JSON.parse(stdout)]).toEqual([code, { ...summary, good_lines: 1, ...told }]);
    expect(stderr).toContain('line 2: is not a JSON object\n');
  });
});

describe('a file with bad lines', () => {
  const twice = randomUUID();
  const good = [randomUUID(), randomUUID()];
  let existing: string;
  let text: string;
  const reasons = () =>
    [
      'line 2: is not valid JSON',
      'line 3: is not a JSON object',
      'line 5: /amount must be an integer',
      'line 6: /merchant_account_id nowhere does not exist',
      `line 8: id ${twice.toUpperCase()} is used by an earlier line`,
      `line 9: id ${existing} exists already`,
      'line 10: /unicorn',
      'line 11: /metadata/a must be a string',
      'line 12: has text with U+0000',
      'line 13: is not valid UTF-8',
      'line 14: /status',
      'line 15: updated_at is before created_at',
    ] as const;

  beforeAll(async () => {
    existing = randomUUID();
    await importText(line({ id: existing }));
    const { amount: _, ...rest } = transaction();
    text = [
      line({ id: good[0] as string }),
      '{"type": "transaction",',
      '[1]',
      '',
      JSON.stringify({ ...rest, amount: '12' }),
      line({ merchant_account_id: 'nowhere' }),
      line({ id: twice }),
      line({ id: twice.toUpperCase() }),
      line({ id: existing }),
      JSON.stringify({ ...transaction(), unicorn: 1 }),
      line({ metadata: { a: 1 as never } }),
      line({ reconciliation_id: 'a\u0000b' }),
      '{"not": "\u00ff"}',
      line({ status: 'unicorn' as never }),
      line({ updated_at: '2026-11-15T10:29:59.999Z' }),
      line({ id: good[1] as string }),
    ].join('\n');
  });
  const bytes = () => {
    const buffer = Buffer.from(text, 'utf8');
    const at = buffer.indexOf(Buffer.from('\u00ff'));
    return Readable.from([buffer.subarray(0, at), Buffer.from([0xff, 0xfe]), buffer.subarray(at + 2)]);
  };

  it('reports each with its number and reason, and imports nothing', async () => {
    const before = await total();
    const { status, stdout, stderr } = await payments(['import', 'transactions', '-'], bytes());
    expect([status, stdout]).toEqual([1, '']);
    const said = stderr.trim().split('\n');
    for (const [index, reason] of reasons().entries()) expect(said[index]).toContain(reason);
    expect(said.slice(reasons().length)).toEqual([
      'Bad: 12 of 15 lines (1 with an ID that exists already). Nothing was imported. Fix these lines (--help shows a good one), or leave them out with --skip-bad.',
    ]);
    expect(await total()).toBe(before);
  });

  it('imports the good lines with --skip-bad', async () => {
    const before = await total();
    const { status, stdout, stderr } = await payments(['import', 'transactions', '-', '--skip-bad'], bytes());
    expect([status, stdout]).toEqual([
      0,
      'Imported 3 transactions, left 12 bad lines out (1 with an ID that exists already).\n',
    ]);
    expect(stderr.trim().split('\n')).toHaveLength(12);
    expect(await total()).toBe(before + 3);
    for (const id of [...good, twice]) expect(await isThere(id)).toBe(true);
  });

  it('stops after twenty bad lines, even if the input never ends', async () => {
    const endless = Readable.from(
      (function* () {
        for (;;) yield '{}\n'.repeat(100);
      })(),
    );
    const { status, stderr } = await payments(['import', 'transactions', '-'], endless);
    endless.destroy();
    expect(status).toBe(1);
    expect(stderr).toContain('line 20: /type');
    expect(stderr).toContain(
      '\nStopped after line 1,000; there may be more bad lines. --dry-run reads all of them.\n',
    );
  });

  it('counts lines by reason, and those with an ID that exists already hide no others', async () => {
    const stored = Array.from({ length: 1_200 }, () => line());
    expect((await importText(stored.join('\n'))).status).toBe(0);
    const {
      gift_card_redemptions: [one],
      ...rest
    } = transaction({
      gift_card_redemptions: [redemption()],
    });
    const wrong = [0, 1].map((good) =>
      JSON.stringify({
        ...rest,
        gift_card_redemptions: [...Array<unknown>(good).fill(one), { ...one, amount: 'x' }],
      }),
    );
    const text = [...stored, ...wrong, '[]', line()].join('\n');
    const { status, stdout, stderr } = await importText(text, '--json');
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      good_lines: 1,
      bad_lines: 1_203,
      existing_lines: 1_200,
      reasons: [
        { reason: 'id … exists already', lines: 1_200 },
        { reason: '/gift_card_redemptions/…/amount must be an integer', lines: 2 },
        { reason: 'is not a JSON object', lines: 1 },
      ],
    });
    const said = stderr.split('\n');
    // As many of the others as there are, and then what has room.
    expect(said.slice(17, 21)).toEqual([
      expect.stringMatching(/^line 1201: \/gift_card_redemptions\/0\/amount must be an integer/),
      expect.stringMatching(/^line 1202: \/gift_card_redemptions\/1\/amount must be an integer/),
      'line 1203: is not a JSON object',
      '… and 1,183 more. By reason:',
    ]);
    expect(said).toContain('  1,200  id … exists already');
    expect(stderr).toContain('Bad: 1,203 of 1,204 lines (1,200 with an ID that exists already). Nothing was');
  });

  const many = '{}\n'.repeat(1_030);

  it('counts to the end with --dry-run', async () => {
    const { status, stderr } = await importText(many, '--dry-run');
    expect(status).toBe(1);
    expect(stderr).toContain('… and 1,010 more. By reason:\n');
    expect(stderr).toContain('Bad: 1,030 of ');
  });

  it('writes each with its number and the reason to the new file of --bad, and masks card numbers', async () => {
    const file = join(folder, 'bad.jsonl');
    const stored = line();
    expect((await importText(stored)).status).toBe(0);
    // Only the database knows that the first one is bad, after the lines behind it were checked.
    const text = `${stored}\n${many}${line({ metadata: { card: '4111 1111-11111111', '3782822463 10005': 'x' } })}`;
    const before = await total();
    expect((await importText(text, '--bad', file)).status).toBe(1);
    const said = (await readFile(file, 'utf8')).trim().split('\n');
    const noted = said.map((one) => JSON.parse(one) as { line: number; reason: string; text: string });
    expect(noted.map((one) => one.line)).toEqual(Array.from({ length: 1_032 }, (_, index) => index + 1));
    expect(noted[1]).toMatchObject({
      text: '{}',
      reason: expect.stringContaining('/type is required') as string,
    });
    expect(noted[1_031]).toEqual({
      line: 1_032,
      reason: expect.stringContaining('/metadata/card has a card') as string,
      text: expect.stringContaining('"metadata":{"card":"[number]","[number]":"x"}') as string,
    });
    expect(noted[0]).toMatchObject({
      text: stored,
      reason: expect.stringContaining('exists already') as string,
    });
    expect((await stat(file)).mode & 0o777).toBe(0o600);

    expect(await importText(line(), '--bad', file)).toMatchObject({
      status: 1,
      stderr: `${file} exists already. Name another file; nothing was imported.\n`,
    });
    const full = join(folder, 'full.jsonl');
    const args = ['import', 'transactions', '-', '--skip-bad', '--bad', full];
    expect(await paymentsWithoutSpace(args, env, text)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        `^${full} could not be written: .*\\. Nothing was imported\\.\n$`,
      ) as string,
    });
    expect(await total()).toBe(before);
  });

  it('refuses a line that does not end, also with --skip-bad', async () => {
    const before = await total();
    for (const options of [[], ['--skip-bad']]) {
      const { status, stderr } = await importText(`${line()}\n${'x'.repeat(17_000_000)}`, ...options);
      expect([status, stderr]).toEqual([1, 'Line 2 is longer than 16 MB. Nothing was imported.\n']);
    }
    expect(await total()).toBe(before);
  });

  it('refuses a path that is not a file', async () => {
    const missing = join(folder, 'missing.jsonl');
    for (const [file, reason] of [
      [folder, `${folder} is a folder. Name one file.`],
      [missing, `There is no file ${missing}. Check the path`],
      ['/dev/null/x', '/dev/null/x cannot be read (ENOTDIR).'],
    ] as const) {
      const { status, stderr } = await payments(['import', 'transactions', file]);
      expect([status, stderr]).toEqual([1, expect.stringContaining(reason)]);
    }
  });
});

describe('while it runs', () => {
  /** Imports that have stored rows and are still running. */
  const open = async () => {
    const { rows } = await sql`
      select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
        and query like ${'copy bulk_uses%'}`.execute(db());
    return rows.length;
  };

  it('imports nothing when it is interrupted, and does not keep cards locked while it runs', async () => {
    const before = await total();
    const child = startNode('server/cli/main.ts', ['import', 'transactions', '-'], { env });
    const card = await db().selectFrom('payment_methods').select('id').limit(1).executeTakeFirstOrThrow();
    const row = () => line({ payment_method: paymentMethod({ id: card.id }) });
    for (let index = 0; index < 3_500; index += 1) child.process.stdin.write(`${row()}\n`);
    // Some lines are stored, and the command waits for more input.
    while ((await open()) === 0) await wait(50);
    // Another transaction can change the card in the meantime.
    await sql`update payment_methods set usage_count = usage_count where id = ${card.id}`.execute(db());
    child.process.kill('SIGINT');
    const { status, stderr } = await child.ended;
    expect([status, stderr]).toEqual([1, 'Interrupted; nothing was imported.\n']);
    while ((await open()) > 0) await wait(20);
    expect(await total()).toBe(before);
  });
});

it('leaves no event behind when it is interrupted while the database stores a batch', async () => {
  const counted = async () => {
    const { rows } = await sql<{ total: number }>`select count(*) as total from events`.execute(db());
    return [await total(), rows[0]?.total];
  };
  const before = await counted();
  const input = new Readable({ read: () => undefined });
  const importing = await db()
    .transaction()
    .execute(async (tx) => {
      await sql`lock table transactions in exclusive mode`.execute(tx);
      const begun = payments(['import', 'transactions', '-', '--events'], input);
      for (let index = 0; index < 1_000; index += 1) input.push(`${line()}\n`);
      await untilItWaits('%insert into transactions%');
      process.emit('SIGINT');
      await setImmediate();
      return [begun];
    });
  expect(await importing[0]).toMatchObject({ status: 1, stderr: 'Interrupted; nothing was imported.\n' });
  expect(await counted()).toEqual(before);
});

it('says so if another process stores a transaction of the file at the same time', async () => {
  const id = randomUUID();
  const importing = await db()
    .transaction()
    .execute(async (tx) => {
      await insertTransactionsIn(tx, [transaction({ id })]);
      const begun = importText(`${line()}\n${line({ id })}`);
      await untilItWaits('copy transactions%');
      return [begun];
    });
  const { status, stdout, stderr } = (await importing[0]) ?? {};
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^Another process stored a transaction of this import at the same time/);
  expect(stderr).toContain(id);
});

it('waits for what is being stored when reading fails, so that nothing is stored after the rollback', async () => {
  const ended: string[] = [];
  const rows = Array.from({ length: 100 }, () => transaction());
  const batches = function* () {
    yield { rows, onStored: () => ended.push('stored') };
    throw new Error('The file ends in the middle.');
  };
  await silentWork(db(), (unit) =>
    importTransactions(unit, batches()).catch(() => void ended.push('failed')),
  );
  expect(ended).toEqual(['stored', 'failed']);
});

// It takes long.
if (allCases) describe('a large file', ofManyLines);

function ofManyLines(): void {
  // Memory would run out if the command kept what it read. A few long lines show that as well as very many short ones.
  const [lines, texts] = process.env.MILLION ? [1_000_000, 1] : [3_000, 25];
  const long = (index: number) => {
    const row = seeded(index, 500_000);
    const long = Array.from({ length: texts }, (_, text) => [`long-${text}`, 'x'.repeat(1_000)] as const);
    return { ...row, metadata: { ...row.metadata, ...Object.fromEntries(long) } };
  };

  it(`of ${lines.toLocaleString('en-US')} lines needs little memory`, async () => {
    const file = join(folder, 'large.jsonl');
    const out = createWriteStream(file);
    for (let index = 0; index < lines; index += 1) {
      if (!out.write(`${JSON.stringify(long(index))}\n`)) await once(out, 'drain');
    }
    out.end();
    await once(out, 'close');
    const before = await total();
    const { status, stdout, stderr } = await createPayments(env)(
      ['import', 'transactions', '-'],
      createReadStream(file),
      ['--max-old-space-size=64'],
    );
    // A slow one tells its progress.
    const faults = stderr.replaceAll(/^Importing: .*\n/gm, '');
    expect([status, stdout, faults]).toEqual([
      0,
      `Imported ${lines.toLocaleString('en-US')} transactions.\n`,
      '',
    ]);
    expect(await total()).toBe(before + lines);
  }, 3_600_000);
}
