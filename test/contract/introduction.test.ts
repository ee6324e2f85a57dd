// The introduction says what the contract and the service say. Its code is run here and in test/tools, unchanged, because readers
// paste it.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseContract } from '../../scripts/docs/contract.ts';
import { root } from '../../scripts/support/root.ts';
import { loadContract } from '../../server/contract/load.ts';
import { switchOffAfterSeconds, waits } from '../../server/events/attempts.ts';
import { subscriptionLimits } from '../../server/resources/webhook-subscriptions/changes.ts';

let text: string;
let folder: string;

beforeAll(async () => {
  text = await readFile(join(root, 'openapi/introduction.md'), 'utf8');
  folder = await mkdtemp(join(tmpdir(), 'introduction-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const snippet = (language: string, having: string) => {
  const blocks = [...text.matchAll(/```(\w+)\n([\s\S]*?)```/g)];
  const found = blocks.find(([, name, code]) => name === language && code?.includes(having));
  return found?.[2] ?? '';
};

describe('the introduction', () => {
  it('lists the attempts of a delivery as the service makes them', () => {
    const seconds = (time: string) =>
      [...time.matchAll(/(\d+) ([hms])/g)].reduce(
        (sum, [, count, unit]) => sum + Number(count) * { h: 3600, m: 60, s: 1 }[unit as 'h'],
        0,
      );
    const rows = [...text.matchAll(/^\| (\d+) +\| ([^|]+)\| ([^|]+)\|$/gm)].map(([, ...cells]) => cells);
    expect(rows.map(([attempt]) => Number(attempt))).toEqual(waits.map((_, index) => index + 1));
    expect(rows.map(([, wait = '']) => seconds(wait))).toEqual(waits);
    let sum = 0;
    // From minutes on, the five seconds of the second attempt are left out.
    for (const [index, [, , total = '']] of rows.entries()) {
      sum += waits[index] ?? 0;
      expect(sum - seconds(total)).toBe(index < 2 ? 0 : 5);
    }
    expect(switchOffAfterSeconds).toBe(5 * 24 * 3_600);
    expect(text).toContain('after five days in\nwhich every attempt failed');
  });

  it('gets its tables of scopes, errors and events from the contract', async () => {
    const { info } = parseContract(await readFile(join(root, 'generated/openapi.json'), 'utf8'));
    expect(info.description).not.toContain('<!-- table');
    for (const row of [
      '| [Check gift card balances](#operation/checkGiftCardBalances) | `gift-cards.read` or `embed` |',
      '| 405 | `method_not_allowed` | The path exists, but not with this HTTP method. | `Allow` names those it has. |',
      '| 422 | (another shape) | The request matches this contract and still cannot be processed. | `detail` says why;',
      '| `transaction.updated` | Sent after a transaction changed: a new status, or new amounts. |',
    ])
      expect(info.description).toContain(`\n${row}`);
  });

  it('and each value of an enumeration has a row in the table of its description', () => {
    const { schemas } = loadContract().document.components;
    const lacking = Object.entries(
      schemas as Record<string, { enum?: string[]; description?: string }>,
    ).flatMap(([name, { enum: values = [], description = '' }]) =>
      description.includes('\n| `')
        ? values.filter((value) => !description.includes(`\n| \`${value}\` `)).map((value) => [name, value])
        : [],
    );
    expect(lacking).toEqual([]);
  });

  it('explains each kind of 422 that the contract has an example of, and shows the example of a 409', () => {
    const { examples: named = {} } = loadContract().document.components;
    const examples = Object.values(named).map((example) => (example as { value: unknown }).value);
    const kinds = examples.flatMap((value) => (value as { detail?: { type: string }[] }).detail ?? []);
    expect(kinds.length).toBeGreaterThan(3);
    for (const { type } of kinds) expect(text).toContain(`\n| \`${type}\` `);
    expect(examples).toContainEqual(JSON.parse(snippet('json', '"duplicate_record"')));
    const { active, withInactive } = subscriptionLimits;
    expect(text).toContain(`${active} active webhook subscriptions, or ${withInactive} with inactive ones`);
  });

  it('shows amounts with the decimals of their currency, as its table has them', async () => {
    await writeFile(join(folder, 'amounts.mjs'), snippet('js', 'Intl.NumberFormat'));
    const { show } = (await import(pathToFileURL(join(folder, 'amounts.mjs')).href)) as {
      show: (amount: number, currency: string) => string;
    };
    const rows = [...text.matchAll(/^\| ([A-Z]{3}(?:, [A-Z]{3})+) +\| (\d) +\| [A-Z]{3} (\S+) +\|$/gm)];
    expect(rows.map(([, , decimals]) => decimals)).toEqual(['2', '2', '0', '3']);
    // For these two Intl has fewer decimals than ISO 4217.
    expect(rows.flatMap(([, currencies = '']) => currencies.split(', '))).toEqual(
      expect.arrayContaining(['HUF', 'IQD']),
    );
    for (const [, currencies = '', , shown] of rows)
      for (const currency of currencies.split(', '))
        expect(show(1299, currency).replace(/\s/, ' ')).toBe(`${currency} ${shown}`);
  });
});
