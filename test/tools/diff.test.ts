// Every way to break a consumer is tried on a copy of the contract. All edits of one expected rating go into one copy, as
// a comparison costs a second; the first pointer of an edit says where its change must be found. The file is long because
// that table is: it is the list of what we promise not to break.
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { isObject, pointerOf, segments, type Change, type Json } from '../../scripts/diff/change.ts';
import { bundle, compare } from '../../scripts/diff/compare.ts';
import { rate, type Rating } from '../../scripts/diff/impact.ts';
import { announces } from '../../scripts/diff/announce.ts';
import { judge } from '../../scripts/diff/judge.ts';
import { asText, linesOf } from '../../scripts/diff/report.ts';
import { keepRedocly } from '../../scripts/support/redocly.ts';
import { root } from '../../scripts/support/root.ts';
import { keepScripts, run, runNode, type KeptScripts } from '../support/processes.ts';
import { announcements, announcementsIn } from '../contract/specification/additions.ts';
import { Contract } from '../contract/specification/document.ts';
import { promises } from '../contract/specification/promises.ts';

type Step = readonly [pointer: string, value: unknown];
type Edit = readonly [promise: string, first: Step, ...more: Step[]];

const gone = Symbol('gone');
const cut = (pointer: string): Step => [pointer, gone];
/** Changes an existing value. */
const put = (pointer: string, value: unknown): Step => [pointer, value];
const without = (item: string) => (list: unknown) => (list as string[]).filter((other) => other !== item);
const plus = (item: unknown) => (list: unknown) => [...(list as unknown[]), item];

const schemas = '/components/schemas';
const parameters = '/components/parameters';
const balances = '/paths/~1gift-cards~1balances/post';
const transactions = '/paths/~1transactions/get';
const keyPairs = '/paths/~1api-key-pairs/get';
const subscribe = '/paths/~1webhook-subscriptions/post';
const cards = '/paths/~1payment-methods/post';
const text = { type: 'string' };
const answer = { description: 'Done.', responses: { 204: { description: 'Done.' } } };
const limit = { scope: 'embed', limit: 9, window_seconds: 9 };

// Added to the base, so that edits can remove what the contract itself does not have.
const given: Step[] = [
  put(`${schemas}/WebhookSubscriptionCreate/properties/mode`, { ...text, enum: ['all', 'some'] }),
  put(`${schemas}/WebhookSubscriptionCreate/properties/kind`, { ...text, enum: ['all', 'some'] }),
  put(`${schemas}/ApiKeyPair/properties/note`, text),
  put(`${schemas}/GiftCardBalanceNew/if`, { required: ['pin'] }),
  put(`${subscribe}/requestBody/required`, false),
  put(`${subscribe}/x-rate-limit`, limit),
  put(`${keyPairs}/x-velocity-limit`, { cards: limit }),
];

const edits: Record<Rating, Edit[]> = {
  breaking: [
    ['a field taken out of a response', cut(`${schemas}/Transaction/properties/amount`)],
    [
      'a field of a response no longer required',
      put(`${schemas}/ApiKeyPair/required`, without('thumbprint')),
    ],
    [
      'a field of a response newly null',
      put(`${schemas}/ApiKeyPair/properties/thumbprint/type`, ['string', 'null']),
    ],
    [
      'a shared field of a response newly null',
      put(`${schemas}/Transaction/properties/captured_amount`, {
        anyOf: [{ $ref: '#/components/schemas/Amount' }, { type: 'null' }],
      }),
    ],
    [
      'an enum narrowed in a request',
      put(`${schemas}/WebhookSubscriptionCreate/properties/mode/enum`, ['all']),
    ],
    ['an enum narrowed in a response', put(`${schemas}/CardType/enum`, without('prepaid'))],
    ['an enum narrowed in both', put(`${schemas}/TransactionStatus/enum`, without('authorization_voided'))],
    ['an enum lifted in a response', cut(`${schemas}/GiftCardRedemptionStatus/enum`)],
    [
      'a new required parameter',
      put(`${transactions}/parameters`, plus({ name: 'tenant', in: 'query', required: true, schema: text })),
    ],
    ['a parameter that becomes required', put(`${parameters}/Cursor/required`, true)],
    ['a parameter taken away', cut(`${keyPairs}/parameters/0`)],
    [
      'a new required field of a body',
      put(`${schemas}/GiftCardBalanceStored/required`, plus('reason')),
      put(`${schemas}/GiftCardBalanceStored/properties/reason`, text),
    ],
    [
      'a new body that is required',
      put(`${transactions}/requestBody`, {
        required: true,
        content: { 'application/json': { schema: text } },
      }),
    ],
    ['a body that becomes required', put(`${subscribe}/requestBody/required`, true)],
    [
      'an alternative taken out of a request',
      cut(`${schemas}/WebhookSubscriptionCreate/properties/authentication/anyOf/1`),
    ],
    ['a further scope', put(`${keyPairs}/security/0/BearerAuth`, plus('api-key-pairs.write'))],
    ['a scope that no longer suffices', cut(`${balances}/security/1`)],
    ['an operation taken away', cut('/paths/~1webhook-subscriptions/get')],
    ['a path taken away', cut('/paths/~1card-scheme-definitions')],
    ['another operationId', put(`${subscribe}/operationId`, 'subscribe')],
    ['a status taken away', cut(`${keyPairs}/responses/403`)],
    ['a header taken out of a response', cut(`${transactions}/responses/200/headers/X-Request-ID`)],
    ['a header of responses no longer sure', put('/components/headers/RequestId/required', false)],
    ['a webhook taken away', cut('/webhooks/payment-method.updated')],
    [
      'a webhook renamed',
      put('/webhooks/transaction.changed', { post: answer }),
      cut('/webhooks/transaction.updated'),
    ],
    [
      'a field taken out of a webhook payload',
      cut(`${schemas}/PaymentMethodCreatedEvent/properties/merchant_account_id`),
    ],
    ['a header taken out of a webhook', cut('/webhooks/transaction.created/post/parameters/0')],
    ['a header of webhooks no longer sure', put(`${parameters}/WebhookTimestamp/required`, false)],
    ['fewer items in a request', put(`${schemas}/GiftCardBalanceRequest/properties/items/maxItems`, 5)],
    [
      'another pattern in a request',
      put(`${schemas}/PaymentMethodCreate/properties/number/pattern`, '^4[0-9]{15}$'),
    ],
    ['a lower maximum', put(`${parameters}/Limit/schema/maximum`, 50)],
    ['a higher minimum', put(`${schemas}/PaymentMethodCreate/properties/security_code/minLength`, 4)],
    [
      'a new `not`',
      put(`${schemas}/WebhookSubscriptionCreate/not`, { required: ['authentication', 'active'] }),
    ],
    ['a `not` that matches more', put(`${schemas}/PaymentMethodCreate/not/required`, without('buyer_id'))],
    ['another `if`', put(`${schemas}/GiftCardBalanceNew/if/required`, [])],
    ['a new rule for names', put(`${schemas}/PaymentMethodCreate/patternProperties`, { '^x-': text })],
    ['another default', put(`${parameters}/Limit/schema/default`, 10)],
    ['a lower rate limit', put(`${balances}/x-rate-limit/limit`, 20)],
    ['a longer window of a rate limit', put(`${subscribe}/x-rate-limit/window_seconds`, 90)],
    ['a new rate limit', put('/paths/~1payment-methods/post/x-rate-limit', limit)],
    ['fewer cards a minute', put(`${cards}/x-velocity-limit/cards/limit`, 200)],
    ['fewer similar numbers', put(`${cards}/x-velocity-limit/same_bin_and_last_four/limit`, 10)],
    ['a longer window', put(`${cards}/x-velocity-limit/same_bin_and_last_four/window_seconds`, 90_000)],
    ['a narrower merchant scope', put(`${transactions}/x-merchant-scope`, 'one')],
    ['another address', put('/paths/~1payment-methods/post/servers', [{ url: 'https://cards.example' }])],
    ['a server taken away', cut('/servers/0')],
    ['a change that no rule knows', put(`${schemas}/Address/properties/city/readOnly`, true)],
  ],
  addition: [
    [
      'a new optional parameter',
      put(`${transactions}/parameters`, plus({ name: 'tenant', in: 'query', schema: text })),
    ],
    ['a new operation', put('/paths/~1transactions/post', answer)],
    ['a new path', put('/paths/~1refunds', { get: answer })],
    ['a new webhook', put('/webhooks/dispute.opened', { post: answer })],
    ['a new status', put(`${keyPairs}/responses/418`, { description: 'A teapot.' })],
    ['a new header of a response', put(`${keyPairs}/responses/200/headers/X-Mood`, { schema: text })],
    ['a new field of a response', put(`${schemas}/Transaction/properties/mood`, text)],
    ['a field of a response newly required', put(`${schemas}/ApiKeyPair/required`, plus('note'))],
    ['a new enum value in a response', put(`${schemas}/CardType/enum`, plus('charge'))],
    ['a new enum value in both', put(`${schemas}/TransactionStatus/enum`, plus('lost'))],
    [
      'a new enum value in a request',
      put(`${schemas}/WebhookSubscriptionCreate/properties/mode/enum`, plus('none')),
    ],
    ['an enum lifted in a request', cut(`${schemas}/WebhookSubscriptionCreate/properties/kind/enum`)],
    ['a new optional field of a body', put(`${schemas}/PaymentMethodCreate/properties/nickname`, text)],
    [
      'a field of a body no longer required',
      put(`${schemas}/PaymentMethodCreate/required`, without('number')),
    ],
    ['more items in a request', put(`${schemas}/GiftCardBalanceRequest/properties/items/maxItems`, 50)],
    ['a higher maximum', put(`${parameters}/Limit/schema/maximum`, 500)],
    ['a pattern lifted from a request', cut(`${schemas}/PaymentMethodCreate/properties/number/pattern`)],
    ['a further alternative of scopes', put(`${keyPairs}/security`, plus({ BearerAuth: ['all.read'] }))],
    ['a higher rate limit', put(`${balances}/x-rate-limit/limit`, 80)],
    ['a rate limit lifted', cut(`${subscribe}/x-rate-limit`)],
    ['a new velocity limit', put(`${transactions}/x-velocity-limit`, { cards: limit })],
    ['more cards a minute', put(`${cards}/x-velocity-limit/cards/limit`, 400)],
    ['a velocity limit lifted', cut(`${keyPairs}/x-velocity-limit`)],
    ['a wider merchant scope', put('/paths/~1payment-methods/post/x-merchant-scope', 'many')],
    ['a deprecation', put(`${balances}/deprecated`, true)],
    ['a deprecated field', put(`${schemas}/Transaction/properties/reconciliation_id/deprecated`, true)],
  ],
  other: [
    ['another description', put(`${transactions}/description`, 'New words.')],
    ['another summary', put(`${balances}/summary`, 'New words')],
    ['another description of a field', put(`${schemas}/Transaction/properties/id/description`, 'New words.')],
    ['another introduction', put('/info/description', 'New words.')],
    ['another example', put('/components/examples/ErrorForbidden/value', { message: 'New words' })],
    ['another example of a parameter', put(`${parameters}/SearchFilter/example`, 'order-1')],
    [
      'a new example',
      put(`${balances}/requestBody/content/application~1json/examples/new`, { value: { items: [] } }),
    ],
    ['another tag', put(`${keyPairs}/tags`, ['Transactions'])],
    [
      'another order',
      put(`${schemas}/Transaction/required`, (list: unknown) => [...(list as string[])].reverse()),
    ],
    ['another reason of a reserved status', put(`${keyPairs}/x-reserved/404`, 'New words.')],
    ['a component that nobody uses', put(`${schemas}/Idle`, text)],
    ['a server on the own machine taken away', cut('/servers/3')],
  ],
};

function apply(contract: Json, steps: readonly Step[]): Json {
  for (const [pointer, value] of steps) {
    const path = segments(pointer);
    const key = path.pop() ?? '';
    const owner = path.reduce<unknown>((node, name) => (node as Json | undefined)?.[name], contract);
    if (Array.isArray(owner) && value === gone) owner.splice(Number(key), 1);
    else if (!isObject(owner) || (value === gone && !(key in owner)))
      throw new Error(`Nothing at ${pointer}`);
    else if (value === gone) Reflect.deleteProperty(owner, key);
    else owner[key] = typeof value === 'function' ? (value as (old: unknown) => unknown)(owner[key]) : value;
  }
  return contract;
}

let contract: Json;
let base: Json;
const edited = {} as Record<Rating, Json>;
const found = {} as Record<Rating, Change[]>;

let endRedocly: () => void;

beforeAll(async () => {
  endRedocly = keepRedocly();
  contract = await bundle('payments@v1');
  base = apply(structuredClone(contract), given);
  const ratings = ['breaking', 'addition', 'other'] as const;
  await Promise.all(
    ratings.map(async (rating) => {
      const steps = edits[rating].flatMap(([, ...each]) => each);
      edited[rating] = apply(structuredClone(base), steps);
      found[rating] = await compare(base, edited[rating]);
    }),
  );
});
afterAll(() => {
  endRedocly();
});

describe.each(['breaking', 'addition', 'other'] as const)('rated %s', (rating) => {
  for (const [promise, [pointer]] of edits[rating]) {
    it(promise, () => {
      const ratings = found[rating]
        .filter((change) =>
          [pointerOf(change), change.base?.pointer].some((place) => isAt(place, `#${pointer}`)),
        )
        .map((change) => rate(change).rating);
      expect(ratings).toContain(rating);
    });
  }

  it('holds for nothing worse than these', () => {
    const worse = (
      { breaking: [], addition: ['breaking'], other: ['breaking', 'addition'] } as Record<Rating, Rating[]>
    )[rating];
    expect(found[rating].filter((change) => worse.includes(rate(change).rating))).toEqual([]);
  });
});

const isAt = (place: string | undefined, pointer: string) => `${place ?? ''}/`.startsWith(`${pointer}/`);

describe('a reference in the place of a schema', () => {
  const pin = `${schemas}/GiftCardBalanceNew/properties/pin`;
  const freeText = '#/components/schemas/FreeText';

  it('is no change if it means the same, and what stands beside it counts', async () => {
    const { components } = contract as { components: { schemas: { FreeText: Json } } };
    const inline = apply(structuredClone(contract), [put(pin, components.schemas.FreeText)]);
    const [same, narrower] = await Promise.all(
      [{ $ref: freeText }, { $ref: freeText, maxLength: 5 }].map((value) =>
        compare(inline, apply(structuredClone(contract), [put(pin, value)])),
      ),
    );
    expect(same).toEqual([]);
    expect(narrower?.map((change) => [pointerOf(change), rate(change).rating])).toEqual([
      [`#${pin}/maxLength`, 'breaking'],
    ]);
  });
});

describe('a new parameter in the place of another', () => {
  const old = { name: 'old', in: 'query', schema: text };
  const replaced = async (parameter: Json) => {
    const [before, after] = [old, parameter].map((one) =>
      apply(structuredClone(contract), [put(`${transactions}/parameters`, plus(one))]),
    ) as [Json, Json];
    return linesOf(await compare(before, after), before, after, root);
  };
  const told = async (parameter: Json) =>
    (await replaced(parameter)).map(({ rating, what }) => `${rating}: ${what}`);
  const removed = 'breaking: `old` query parameter was removed';

  it('is a rename if both are in the same place and have the same schema', async () => {
    expect(await told({ ...old, name: 'fresh' })).toEqual([
      'breaking: `old` query parameter was renamed to `fresh`',
    ]);
  });

  it('is new, and the other one removed, if they differ', async () => {
    const fresh = { name: 'fresh', in: 'query', schema: { type: 'integer', minimum: 1 } };
    expect(await told(fresh)).toEqual([removed, 'addition: new query parameter `fresh`']);
    expect(await told({ ...fresh, schema: { $ref: '#/components/schemas/CardType' } })).toEqual([
      removed,
      'addition: new query parameter `fresh`',
    ]);
    expect(await told({ ...fresh, in: 'header', schema: text })).toEqual([
      removed,
      'addition: new header parameter `fresh`',
    ]);
    expect(await told({ ...fresh, required: true })).toEqual([
      removed,
      'breaking: required `fresh` query parameter was added',
    ]);
    const changes = await replaced(fresh);
    const [problem] = judge({ changes, baseVersion: '1.0.0', version: '2.0.0', changelog: '' });
    expect(problem?.message).toContain('\n  - `GET /transactions`: new query parameter `fresh`.');
  });

  it('is new also as a component, while changes of a schema that others use stay', async () => {
    const search = `${parameters}/SearchFilter`;
    const after = apply(structuredClone(contract), [
      put(`${search}/name`, 'query'),
      put(`${search}/in`, 'header'),
      put(`${schemas}/FreeText/maxLength`, 20),
    ]);
    const lines = linesOf(await compare(contract, after), contract, after, root);
    const shown = lines.map(({ rating, place, names }) => [rating, place, names]);
    expect(shown).toContainEqual(['breaking', 'schema FreeText', undefined]);
    expect(shown.filter(([, place]) => place === 'parameter SearchFilter')).toEqual([
      ['breaking', 'parameter SearchFilter', undefined],
      ['addition', 'parameter SearchFilter', ['query']],
    ]);
  });
});

describe('one edit is one change', () => {
  const pair = `${schemas}/ApiKeyPair`;
  const renamed = [cut(`${pair}/properties/thumbprint`), put(`${pair}/properties/fingerprint`, text)];
  const removal = 'breaking: property `thumbprint` of `ApiKeyPair` was removed';
  const requires = (change: (list: unknown) => unknown) => put(`${pair}/required`, change);
  const dates = { since: '2027-01-01', sunset: '2028-01-01' };

  it.each<[string, Step[], string[]]>([
    [
      'a required field of another name',
      [...renamed, requires((list) => plus('fingerprint')(without('thumbprint')(list)))],
      ['addition: new field `fingerprint`', removal],
    ],
    [
      'that, beside another that is no longer required',
      [
        ...renamed,
        requires((list) => plus('fingerprint')(without('thumbprint')(without('algorithm')(list)))),
      ],
      [
        'addition: new field `fingerprint`',
        'breaking: properties of `ApiKeyPair` are no longer required: `algorithm`',
        removal,
      ],
    ],
    [
      'a new field of a response that is always there',
      [put(`${pair}/properties/mood`, text), requires(plus('mood'))],
      ['addition: new field `mood`'],
    ],
    [
      'a deprecation with its dates',
      [put(`${transactions}/deprecated`, true), put(`${transactions}/x-deprecation`, dates)],
      ['addition: deprecated since 2027-01-01, removed after 2028-01-01'],
    ],
    [
      'a deprecated field',
      [put(`${pair}/properties/thumbprint/deprecated`, true)],
      ['addition: field `thumbprint` is now deprecated'],
    ],
    [
      'a new status, by its number',
      [put(`${transactions}/responses/418`, { description: 'A teapot.' })],
      ['addition: new response `418`'],
    ],
  ])('%s', async (_edit, steps, expected) => {
    const after = apply(structuredClone(contract), steps);
    const lines = linesOf(await compare(contract, after), contract, after, root);
    expect(lines.map(({ rating, what }) => `${rating}: ${what}`).sort()).toEqual(expected);
  });
});

describe('the report', () => {
  it('names a shared schema once, with those that use it, in words and with its source', () => {
    const lines = linesOf(found.breaking, base, edited.breaking, root).filter(
      ({ place }) => place === 'schema CardType',
    );
    expect(lines).toEqual([
      {
        rating: 'breaking',
        place: 'schema CardType',
        usedBy: expect.arrayContaining([
          'POST /payment-methods',
          'webhook payment-method.created',
        ]) as string[],
        what: '`enum` lost prepaid',
        why: 'consumers may rely on it',
        where: 'openapi/components/schemas/CardType.yaml#/enum',
      },
    ]);
  });

  it('says why where the change does not show it', () => {
    const whys = linesOf(found.breaking, base, edited.breaking, root).map(({ what, why }) => [what, why]);
    expect(whys).toEqual(
      expect.arrayContaining([
        ['`default` of the schema changed from 20 to 10', 'requests that leave it out change their meaning'],
        ['`x-merchant-scope` changed from many to one', 'it changes which merchant accounts can be named'],
        [
          '`readOnly` of field `city` was set to true',
          'no rule covers this change, so it counts as breaking',
        ],
        [
          'webhook `transaction.updated` was renamed to `transaction.changed`',
          'the old name no longer works',
        ],
      ]),
    );
  });

  it('groups by what it does to consumers and counts, in colour only if asked', () => {
    const changes = linesOf(found.addition.slice(0, 2), base, edited.addition, root);
    const outcome = { base: 'old.json', baseVersion: '1.0.0', version: '1.1.0', changes, problems: [] };
    const plain = asText(outcome, { colour: false });
    expect(plain).toMatch(/^Additions \(2\)\n {2}\+ /m);
    expect(plain).toContain('0 breaking, 2 additions, 0 other');
    expect(plain).not.toContain('\u001b');
    expect(asText(outcome, { colour: true })).toContain('\u001b[32m');
  });
});

describe('judge', () => {
  const changelog = (version: string, ...lines: string[]) =>
    `# Changelog\n\n## ${version} — 2026-11-15\n\n### Contract\n\n${lines.map((line) => `- ${line}\n`).join('')}\n### Service\n\n- Faster.\n\n## 1.0.0 — 2026-11-14\n\n### Contract\n\n- The first one.\n`;
  const verdict = (rating: Rating, version: string, text: string) =>
    judge({ changes: [{ rating }], baseVersion: '1.0.0', version, changelog: text });

  it.each<[Rating, string]>([
    ['breaking', '2.0.0'],
    ['breaking', '3.1.0'],
    ['addition', '1.1.0'],
    ['addition', '2.0.0'],
    ['other', '1.0.1'],
    ['other', '1.1.0'],
  ])('%s is announced well enough by %s', (rating, version) => {
    expect(verdict(rating, version, changelog(version, '**Breaking** All of it.'))).toEqual([]);
  });

  it.each<[Rating, string, string]>([
    ['breaking', '1.0.0', 'Set it to 2.0.0'],
    ['breaking', '1.9.0', 'Set it to 2.0.0'],
    ['addition', '1.0.0', 'Set it to 1.1.0'],
    ['addition', '1.0.9', 'Set it to 1.1.0'],
    ['other', '1.0.0', 'Set it to 1.0.1'],
    ['other', '0.9.0', 'Set it to 1.0.1'],
  ])('%s is not announced by %s: %s', (rating, version, next) => {
    const wanted = next.replace('Set it to ', '');
    const problems = verdict(rating, version, changelog(wanted, '**Breaking** All of it.'));
    expect(problems).toEqual([{ rule: 'version', message: expect.stringContaining(next) as string }]);
  });

  it('wants a line below Contract of the section of that version, and shows one', () => {
    const heading = '## 1.1.0 — YYYY-MM-DD';
    const unreleased = '# Changelog\n\n## 1.1.0 — unreleased\n\n### Service\n\n- Faster.\n';
    for (const [text, shown] of [
      ['', `:\n\n  ${heading}\n\n  ### Contract\n\n  - What changed`],
      [changelog('1.1.1', 'x'), `:\n\n  ${heading}\n\n  ### Contract\n\n  - What changed`],
      [
        unreleased,
        'to the section of 1.1.0 that is there, written for consumers:\n\n  ### Contract\n\n  - What',
      ],
      [
        changelog('1.1.0'),
        'to the section of 1.1.0 that is there, written for consumers:\n\n  - What changed',
      ],
    ] as const) {
      const [problem, ...more] = verdict('addition', '1.1.0', text);
      expect(more).toEqual([]);
      expect(problem).toMatchObject({ rule: 'changelog' });
      expect(problem?.message).toContain(shown);
    }
  });

  it('proposes a line for each addition', () => {
    const added = { rating: 'addition' as const, place: 'GET /transactions', what: 'new parameter `intent`' };
    const changes = [added, { rating: 'other' as const, place: 'document', what: 'x' }];
    const told = (more: { rating: Rating }[]) =>
      judge({ changes: [...changes, ...more], baseVersion: '1.0.0', version: '2.0.0', changelog: '' })[0]
        ?.message;
    const line = '- `GET /transactions`: new parameter `intent`.';
    expect(told([])).toMatch(new RegExp(`### Contract\\n\\n  ${line}$`));
    expect(told([{ rating: 'breaking' }])).toContain(`about it.\n  ${line}`);
  });

  it('proposes a line for each breaking change, one for a required property that was renamed, and the summary of an operation', async () => {
    const pair = `${schemas}/ApiKeyPair`;
    const after = apply(structuredClone(contract), [
      cut(`${pair}/properties/thumbprint`),
      put(`${pair}/properties/fingerprint`, text),
      put(`${pair}/required`, (list: unknown) => plus('fingerprint')(without('thumbprint')(list))),
      put('/paths/~1moods', { get: { ...answer, summary: 'List moods' } }),
      put(`${parameters}/Limit/schema/maximum`, 50),
    ]);
    const changes = linesOf(await compare(contract, after), contract, after, root);
    const [problem] = judge({ changes, baseVersion: '1.0.0', version: '2.0.0', changelog: '' });
    expect(problem?.message.match(/^ {2}- .*$/gm)?.sort()).toEqual([
      expect.stringMatching(/^ {2}- \*\*Breaking\*\* `parameter Limit`: .*\. What to do about it\.$/),
      '  - **Breaking** `schema ApiKeyPair`: property `thumbprint` of `ApiKeyPair` was removed. What to do about it.',
      '  - `GET /moods`: List moods.',
      '  - `schema ApiKeyPair`: new field `fingerprint`.',
    ]);
  });

  describe('proposes text that', () => {
    const additions = () => linesOf(found.addition, base, edited.addition, root);
    const told = (text: string) =>
      judge({ changes: additions(), baseVersion: '1.0.0', version: '1.1.0', changelog: text });
    const proposed = (text: string) =>
      told(text)[0]
        ?.message.replace(/^.*:\n/, '')
        .replace(/^ {2}/gm, '') ?? '';

    it('announces all additions, also for the test of the specification', () => {
      const text = proposed('');
      expect(text).toContain('- `GET /refunds`: new path');
      expect(told(`# Changelog\n${text}\n`)).toEqual([]);
      const names = (whole: Json) =>
        promises
          .flatMap(({ faults }) => faults(new Contract(whole)))
          .flatMap(({ beyond }) =>
            beyond === undefined || announces(announcements, beyond) ? [] : [beyond],
          );
      const before = names(base);
      const beyond = names(edited.addition).filter((name) => !before.includes(name));
      expect(beyond).toEqual(expect.arrayContaining(['GET /refunds', 'POST /transactions', 'mood', '418']));
      expect(beyond.filter((name) => !announces(announcementsIn(text), name))).toEqual([]);
    });

    it('has what is missing only', () => {
      const text = `# Changelog\n${proposed('')}\n`;
      const [problem] = told(text.replace(/^.*`mood`.*\n/m, ''));
      expect(problem?.message).toMatch(/does not name .*\n\n {2}- `schema Transaction`: .*`mood`.*$/);
      expect(proposed(text.replace(/^.*`reconciliation_id`.*\n/m, ''))).toBe(
        '\n- `schema Transaction`: field `reconciliation_id` is now deprecated.',
      );
      expect(proposed(text.replace('`GET /refunds`', '`GET /refund`'))).toBe(
        '\n- `GET /refunds`: new path (GET).',
      );
    });
  });

  it('wants that line to begin with **Breaking** if something breaks', () => {
    const [problem] = verdict('breaking', '2.0.0', changelog('2.0.0', 'Removed `amount`.'));
    expect(problem?.message).toContain('- **Breaking** What changed');
  });

  it.each([
    '**Breaking** What changed. What to do about it.',
    '**Breaking** `a`: gone. What to do about it.',
  ])('wants more than the proposed %s', (line) => {
    const [problem] = verdict('breaking', '2.0.0', changelog('2.0.0', line));
    expect(problem?.message).toContain(`still says "What to do about it." Replace that sentence`);
    expect(problem?.message).toContain(`\n  - ${line}`);
  });

  it('wants a version number that it can compare', () => {
    expect(verdict('other', 'v2', '')[0]?.message).toContain('Write it as MAJOR.MINOR.PATCH');
  });

  it('has nothing to say if nothing changed', () => {
    expect(judge({ changes: [], baseVersion: '1.0.0', version: '1.0.0', changelog: '' })).toEqual([]);
  });
});

describe('npm run diff', { timeout: 60_000 }, () => {
  let folder: string;
  const inFolder = (file: string) => join(folder, file);
  const rewrite = async (file: string, change: (text: string) => string) => {
    await writeFile(inFolder(file), change(await readFile(inFolder(file), 'utf8')));
  };
  const releasedVersion = async () => {
    const { info } = JSON.parse(await readFile(inFolder('openapi/released/openapi.json'), 'utf8')) as Json;
    return (info as Json).version;
  };
  let scripts: KeptScripts;
  const diff = (...args: string[]) => scripts.run('scripts/diff.ts', args);
  /** In a process of its own, as people call it. */
  const diffAlone = (...args: string[]) => runNode('scripts/diff.ts', args, { cwd: folder });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'diff-test-'));
    const needed = ['openapi', 'scripts', 'redocly.yaml', 'package.json', 'tsconfig.json'];
    await Promise.all(needed.map((name) => cp(join(root, name), inFolder(name), { recursive: true })));
    for (const name of ['scripts', 'server/domain'])
      await cp(join(inject('compiled'), name), inFolder(name), { recursive: true });
    await rm(inFolder('openapi/released'), { recursive: true, force: true });
    await symlink(join(root, 'node_modules'), inFolder('node_modules'));
    await rewrite('openapi/openapi.yaml', (yaml) => yaml.replace(/^ {2}version: .*$/m, '  version: 1.0.0'));
    scripts = keepScripts(folder);
  });
  afterAll(async () => {
    scripts[Symbol.dispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it('makes the first release when asked, and refuses options that make no sense', async () => {
    const [none, senseless] = await Promise.all([diffAlone(), diffAlone('--force')]);
    expect(none).toMatchObject({
      status: 1,
      output: expect.stringContaining('npm run diff -- --release') as string,
    });
    expect(senseless).toMatchObject({ status: 2, output: expect.stringContaining('--release') as string });
    expect(await diff('--release')).toMatchObject({ status: 0 });
    expect(await releasedVersion()).toBe('1.0.0');
    const same = await diff();
    expect(same.output).toMatch(/^✓ No change of the contract since openapi\/released\/openapi\.json\n$/);
    expect(same.status).toBe(0);
  });

  it('refuses an unannounced breaking change, then releases it with its major version and changelog', async () => {
    await rewrite('openapi/components/schemas/CardType.yaml', (yaml) =>
      yaml.replace(/,? *-? *\bprepaid\b/, ''),
    );
    const refused = await diff('--release');
    expect(refused.output).toMatch(/Breaking \(1\)\n {2}✖ schema CardType .*`enum` lost prepaid/);
    expect(refused.output).toContain('Set it to 2.0.0');
    expect(refused.output).toContain('Not released.');
    expect(refused.status).toBe(1);
    expect(await releasedVersion()).toBe('1.0.0');
    // The same contract as base: nothing to list, but the rules are about the released one.
    const listed = await diff('--base', 'openapi/openapi.yaml');
    expect([listed.status, listed.output]).toEqual([1, expect.stringContaining('0 breaking')]);
    expect(listed.output).toContain('Set it to 2.0.0');
    const written = await diff('--markdown', 'review.md', '--html', 'review.html');
    expect(written).toMatchObject({
      status: 1,
      output: expect.stringMatching(
        /^Wrote review\.html\.\nWrote review\.md\.\n\n2 things to do before merging:\n\n✖ .*Set it to 2\.0\.0.*\n\n✖ CHANGELOG\.md/,
      ) as string,
    });

    await rewrite('openapi/openapi.yaml', (yaml) => yaml.replace('version: 1.0.0', 'version: 2.0.0'));
    const section = '## 2.0.0 — 2026-11-15\n\n### Contract\n\n- **Breaking** `prepaid` is gone.\n';
    await writeFile(inFolder('CHANGELOG.md'), `# Changelog\n\n${section}`);
    const { status, output } = await diff('--release', '--json');
    const expected = { ok: true, released: true, counts: { breaking: 1 }, version: '2.0.0', problems: [] };
    expect(JSON.parse(output)).toMatchObject(expected);
    expect(status).toBe(0);
    expect(await releasedVersion()).toBe('2.0.0');
  });

  it('writes what a reviewer reads, compared with a branch', async () => {
    const git = (...args: string[]) =>
      run('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], { cwd: folder });
    await git('init', '--quiet', '--initial-branch=main');
    await mkdir(inFolder('generated'));
    await writeFile(inFolder('generated/openapi.json'), JSON.stringify(base));
    await git('add', 'generated/openapi.json');
    await git('commit', '--quiet', '--message=base');
    const both = await diff('--base', 'main', '--markdown', 'review.md', '--html', 'review.html');
    expect(both.output).toBe('Wrote review.html.\nWrote review.md.\n');
    expect(await readFile(inFolder('review.html'), 'utf8')).toContain('<title>Contract');
    const review = await readFile(inFolder('review.md'), 'utf8');
    expect(review).toContain('→ 2.0.0\n');
    expect(review).toContain('compared with `main`');
    expect(review).toMatch(/## Breaking .*\n\n(.*\n)*- \*\*schema CardType\*\* \(.*\): `enum` lost prepaid/);
    expect(await diff('--html', '--json')).toMatchObject({ status: 2 });
    expect(await diff('--html', '--markdown')).toMatchObject({
      status: 2,
      output: expect.stringContaining('need a FILE each') as string,
    });
    expect(await diff('--base', 'mian')).toMatchObject({
      status: 2,
      output: '--base mian is neither a file nor a branch or commit with generated/openapi.json.\n',
    });
  });

  it('releases the same version again only by force', async () => {
    await rewrite('openapi/introduction.md', (text) => `${text}\nOne more sentence.\n`);
    expect((await diff()).output).toContain('For your own changes: npm run diff -- --base main');
    const forced = await diff('--release', '--force');
    expect(forced.output).toContain('Set it to 2.0.1');
    expect(forced.output).toContain('Released 2.0.0');
    expect(forced.status).toBe(0);
  });

  it('accepts a breaking change that is listed with its test, and nothing that needs no entry', async () => {
    await rewrite('openapi/components/schemas/FreeText.yaml', (yaml) =>
      yaml.replace('maxLength: 200', 'maxLength: 199'),
    );
    await rewrite('openapi/openapi.yaml', (yaml) => yaml.replace('version: 2.0.0', 'version: 2.0.1'));
    await rewrite('CHANGELOG.md', (text) => `${text}\n## 2.0.1 — 2026-11-16\n\n### Contract\n\n- Shorter.\n`);
    await mkdir(inFolder('test'));
    await writeFile(inFolder('test/short.test.ts'), "it('is short', () => {});\n");
    const entry = (pointer: string, test: string) =>
      `2.0.1:\n  - pointer: ${pointer}\n    reason: Nobody can write that much.\n    test: ${test}\n`;
    const place = 'openapi/components/schemas/FreeText.yaml#/maxLength';
    const list = inFolder('openapi/released/accepted.yaml');
    await writeFile(list, entry(place, 'test/short.test.ts > is long'));
    const untested = await diff();
    expect(untested.output).toContain('there is no test "test/short.test.ts > is long"');
    expect(untested.status).toBe(1);

    await writeFile(list, entry(place, 'test/short.test.ts > is short'));
    const accepted = await diff('--release');
    expect(accepted.output).toMatch(/Accepted \(1\)\n {2}≈ .*\n {6}Nobody can write that much\./);
    expect(accepted.output).toContain('Released 2.0.1');
    expect(accepted.status).toBe(0);

    await writeFile(list, entry(place, 'test/short.test.ts > is short').replace('2.0.1', '2.0.2'));
    const needless = await diff();
    expect(needless.output).toContain(`nothing breaks at ${place}`);
    expect(needless.status).toBe(1);
  });

  it('releases no contract that fails the lint, unless forced', async () => {
    const files = ['openapi/paths/transactions.yaml', 'openapi/paths/api-key-pairs.yaml'];
    const edit = (change: (text: string) => string) =>
      Promise.all(files.map((file) => rewrite(file, change)));
    await edit((yaml) => yaml.replace(/^( +summary: .*)$/m, '$1.').replace('>-\n', '>- # TODO: say it\n'));
    await rewrite('openapi/openapi.yaml', (yaml) => yaml.replace('version: 2.0.1', 'version: 2.0.2'));
    await rewrite('CHANGELOG.md', (text) => `${text}\n## 2.0.2 — 2026-11-16\n\n### Contract\n\n- Words.\n`);
    await rm(inFolder('openapi/released/accepted.yaml'));
    const refused = await diff('--release');
    for (const file of files)
      for (const rule of ['rule/summary', 'todo'])
        expect(refused.output).toMatch(new RegExp(`^${file}:\\d+:\\d+ ${rule}$`, 'm'));
    expect(refused.output).toMatch(/\n\nNot released: the contract has 4 problems\n$/);
    expect(refused.status).toBe(1);
    expect(await releasedVersion()).toBe('2.0.1');

    expect(await diff('--release', '--force')).toMatchObject({ status: 0 });
    expect(await releasedVersion()).toBe('2.0.2');
    await edit((yaml) => yaml.replace(/^( +summary: .*)\.$/m, '$1').replace(' # TODO: say it', ''));
  });

  it.each([
    ['a $ref that leads nowhere', 'SearchFilter.yaml', 'SerchFilter.yaml', 'no-unresolved-refs'],
    ['a fault of the syntax', 'summary: ', 'summary:', 'yaml-syntax'],
  ])("compares nothing after %s, and shows the lint's message once", async (_fault, right, wrong, rule) => {
    const file = 'openapi/paths/transactions.yaml';
    await rewrite(file, (yaml) => yaml.replace(right, wrong));
    const { status, output } = await diff();
    await rewrite(file, (yaml) => yaml.replace(wrong, right));
    expect(output).toMatch(new RegExp(`^${file}:\\d+:\\d+ ${rule}\n`));
    expect(output.match(/transactions\.yaml/g)).toHaveLength(1);
    expect(output).toMatch(/\n\nNothing was compared\. Fix the contract, then run: npm run diff\n$/);
    expect(status).toBe(1);
  });
});
