// The introduction says what the contract and the service say. test/tools runs its code.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseContract } from '../../scripts/docs/contract.ts';
import { root } from '../../scripts/support/root.ts';
import { loadContract } from '../../server/kit/contract/load.ts';
import { switchOffAfterSeconds, waits } from '../../server/kit/events/attempts.ts';
import { subscriptionLimits } from '../../server/kit/events/subscriptions/changes.ts';

let text: string;

beforeAll(async () => {
  text = await readFile(join(root, 'openapi/introduction.md'), 'utf8');
});

describe('the introduction', () => {
  it('lists the attempts of a delivery as the service makes them', () => {
    const seconds = (time: string) =>
      [...time.matchAll(/(\d+) ([hms])/g)].map(
        ([, count, unit]) => Number(count) * { h: 3600, m: 60, s: 1 }[unit as 'h'],
      );
    const flat = text.replaceAll('\n', ' ');
    const [, total = '', list = ''] =
      /ten attempts in (75 h 35 m)\. After a failed one, the next follows after (.*?), each/.exec(flat) ?? [];
    expect([0, ...seconds(list)]).toEqual(waits);
    const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);
    // Without the five seconds of the second attempt.
    expect(sum(seconds(total))).toBe(sum(waits) - 5);
    expect(switchOffAfterSeconds).toBe(5 * 24 * 3_600);
    expect(flat).toContain('after five days in which every attempt failed');
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

  it('explains each kind of 422 that the contract has an example of', () => {
    const { examples: named = {} } = loadContract().document.components;
    const examples = Object.values(named).map((example) => (example as { value: unknown }).value);
    const kinds = examples.flatMap((value) => (value as { detail?: { type: string }[] }).detail ?? []);
    expect(kinds.length).toBeGreaterThan(3);
    for (const { type } of kinds) expect(text).toContain(`\n| \`${type}\` `);
    const { active, withInactive } = subscriptionLimits;
    expect(text).toContain(`${active} active webhook subscriptions, or ${withInactive} with inactive ones`);
  });

  it('has the decimals of the currencies that the function of the client guide has', async () => {
    const rows = [...text.matchAll(/^\| ([A-Z]{3}(?:, [A-Z]{3})+) +\| (\d) +\| [A-Z]{3} (\S+) +\|$/gm)];
    expect(rows.map(([, , decimals]) => decimals)).toEqual(['2', '2', '0', '3']);
    const guide = await readFile(join(root, 'docs/guides/frontend-team.md'), 'utf8');
    for (const at of [2, 3]) expect(guide).toContain(`'${rows[at]?.[1]?.replaceAll(',', '')}'`);
  });
});
