// Every way to break a consumer is tried on a copy of a small contract, test/fixtures/contract. All edits of one expected rating go into one copy, as
// a comparison costs a second; the first pointer of an edit says where its change must be found. The file is long because
// that table is: it is the list of what we promise not to break.
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isObject, pointerOf, segments, type Change, type Json } from '../../scripts/diff/change.ts';
import { diff as diffIn } from '../../scripts/diff/command.ts';
import { compare } from '../../scripts/diff/compare.ts';
import { rate, type Rating } from '../../scripts/diff/impact.ts';
import { sourceOf } from '../../scripts/diff/places.ts';
import { findProblems } from '../../scripts/diff/problems.ts';
import { linesOf } from '../../scripts/diff/report.ts';
import { bundle } from '../../scripts/generate/bundle.ts';
import type { Contract } from '../../scripts/generate/contract.ts';
import { withTables } from '../../scripts/generate/introduction.ts';
import { root } from '../../scripts/support/root.ts';
import { run } from '../support/processes.ts';

const project = join(root, 'test/fixtures/contract');

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
    ['a `not` that matches less', put(`${schemas}/PaymentMethodCreate/not/required`, plus('number'))],
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
    ['a server on the own machine taken away', cut('/servers/2')],
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
const edited = {} as Record<Rating, Json>;
const found = {} as Record<Rating, Change[]>;

beforeAll(async () => {
  contract = await bundle(join(project, 'openapi/openapi.yaml'), project);
  const ratings = ['breaking', 'addition', 'other'] as const;
  await Promise.all(
    ratings.map(async (rating) => {
      const steps = edits[rating].flatMap(([, ...each]) => each);
      edited[rating] = apply(structuredClone(contract), steps);
      found[rating] = await compare(contract, edited[rating]);
    }),
  );
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

it('reports an introduction that somebody has edited, and not one whose tables have new rows', async () => {
  const notes = {
    operationId: 'listNotes',
    summary: 'List notes',
    security: [{ BearerAuth: ['notes.read'] }],
  };
  const withIntroduction = (words: string, paths: object): Json => {
    const description = `${words}\n\n<!-- table: scopes -->\n\n<!-- table: events -->\n\nMore.\n`;
    const { info } = withTables({ info: { description }, paths, webhooks: {} } as unknown as Contract);
    return apply(structuredClone(contract), [put('/info/description', info.description)]);
  };
  const base = withIntroduction('Words.', {});
  const added = { '/notes': { get: notes } };
  expect(await compare(base, withIntroduction('Words.', added))).toEqual([]);
  expect(await compare(base, withIntroduction('New words.', added))).toMatchObject([
    { path: '#/info', property: 'description' },
  ]);
});

describe('the report', () => {
  it('names a shared schema once, with those that use it, in words and with its source', () => {
    const lines = linesOf(found.breaking, contract, edited.breaking, project).filter(
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
        names: [],
        why: 'consumers may rely on it',
        where: 'openapi/components/schemas/CardType.yaml:3 #/enum',
      },
    ]);
  });
});

it('names the file of the introduction, which is the description of the bundle', () => {
  expect(sourceOf('#/info/description', root)).toBe('openapi/introduction.md:1 #/info/description');
});

it('names the line of what is there, or of what a removed part was in', () => {
  const text = readFileSync(join(project, 'openapi/openapi.yaml'), 'utf8').split('\n');
  const owner = text.findIndex((line) => line.startsWith('    Transaction:'));
  const properties = text.indexOf('      properties:', owner) + 1;
  const amount = text.findIndex((line, index) => index > owner && line.startsWith('        amount:')) + 1;
  const at = `${schemas}/Transaction/properties`;
  expect(sourceOf(`#${at}/amount/$ref`, project)).toBe(`openapi/openapi.yaml:${amount} #${at}/amount/$ref`);
  expect(sourceOf(`#${at}/gone/type`, project)).toBe(`openapi/openapi.yaml:${properties} #${at}/gone/type`);
  expect(sourceOf('#/paths/~1gone', project)).toBe(
    `openapi/openapi.yaml:${text.indexOf('paths:') + 1} #/paths/~1gone`,
  );
});

describe('what a comparison finds', () => {
  const changelog = (version: string, ...lines: string[]) =>
    `# Changelog\n\n## ${version} — 2026-11-15\n\n### Contract\n\n${lines.map((line) => `- ${line}\n`).join('')}\n### Service\n\n- Faster.\n\n## 1.0.0 — 2026-11-14\n\n### Contract\n\n- The first one.\n`;
  const verdict = (rating: Rating, version: string, text: string) =>
    findProblems({
      changes: [{ rating, place: 'a', what: 'b', names: [] }],
      baseVersion: '1.0.0',
      version,
      changelog: text,
    });

  it.each<[Rating, string]>([
    ['breaking', '2.0.0'],
    ['addition', '1.1.0'],
    ['other', '1.0.1'],
  ])('%s is announced well enough by %s', (rating, version) => {
    expect(verdict(rating, version, changelog(version, '**Breaking** All of it.'))).toEqual([]);
  });

  it.each<[Rating, string, string]>([
    ['breaking', '1.9.0', 'Set it to 2.0.0'],
    ['addition', '1.0.9', 'Set it to 1.1.0'],
    ['other', '1.0.0', 'Set it to 1.0.1'],
  ])('%s is not announced by %s: %s', (rating, version, next) => {
    const wanted = next.replace('Set it to ', '');
    const problems = verdict(rating, version, changelog(wanted, '**Breaking** All of it.'));
    expect(problems).toEqual([{ rule: 'version', message: expect.stringContaining(next) as string }]);
  });

  it('wants a line below Contract of the section of that version, and shows one', () => {
    const heading = '  ## 1.1.0 — YYYY-MM-DD\n\n  ### Contract\n\n  - What changed. What to do about it.';
    const unreleased = '# Changelog\n\n## 1.1.0 — unreleased\n\n### Service\n\n- Faster.\n';
    for (const [text, shown] of [
      ['', `Add this at the top, written for consumers, with the names in code spans:\n\n${heading}`],
      [changelog('1.1.1', 'x'), heading],
      [
        unreleased,
        'Add this to its section, written for consumers, with the names in code spans:\n\n  ### Con',
      ],
      [changelog('1.1.0'), 'code spans:\n\n  - What changed'],
    ] as const) {
      const [problem, ...more] = verdict('other', '1.1.0', text);
      expect(more).toEqual([]);
      expect(problem).toMatchObject({ rule: 'changelog' });
      expect(problem?.message).toContain(shown);
    }
  });

  it('proposes a line for each breaking change, and the summary of a new operation', async () => {
    const after = apply(structuredClone(contract), [
      put(`${schemas}/ApiKeyPair/properties/fingerprint`, text),
      put('/paths/~1moods', { get: { ...answer, summary: 'List moods' } }),
      put(`${parameters}/Limit/schema/maximum`, 50),
    ]);
    const changes = linesOf(await compare(contract, after), contract, after, project);
    const [problem] = findProblems({ changes, baseVersion: '1.0.0', version: '2.0.0', changelog: '' });
    expect(problem?.message.match(/^ {2}- .*$/gm)?.sort()).toEqual([
      expect.stringMatching(/^ {2}- \*\*Breaking\*\* `parameter Limit`: .*\. What to do about it\.$/),
      '  - `ApiKeyPair`: new field `fingerprint`.',
      '  - `GET /moods`: new operation: List moods.',
    ]);
  });

  describe('proposes text that', () => {
    const additions = () => linesOf(found.addition, contract, edited.addition, project);
    const told = (text: string) =>
      findProblems({ changes: additions(), baseVersion: '1.0.0', version: '1.1.0', changelog: text });
    const proposed = (text: string) =>
      told(text)[0]
        ?.message.replace(/^.*:\n/, '')
        .replace(/^ {2}/gm, '') ?? '';

    it('announces all additions', () => {
      const text = proposed('');
      expect(text).toContain('- `GET /refunds`: new operation');
      expect(told(`# Changelog\n${text}\n`)).toEqual([]);
      const names = additions().flatMap(({ rating, names: own }) => (rating === 'addition' ? own : []));
      expect(names).toEqual(expect.arrayContaining(['GET /refunds', 'POST /transactions', 'mood', '418']));
    });

    it('is satisfied by `Schema.field`, names the span that is missing, and has that only', () => {
      const text = `# Changelog\n${proposed('')}\n`;
      expect(told(text.replace('`mood`', '`Transaction.mood`'))).toEqual([]);
      expect(told(text.replace('`mood`', 'mood'))[0]?.message).toContain(': no code span names mood. Add');
      expect(told(text.replace('`mood`', '`transaction.mood`'))).toHaveLength(1);
      expect(proposed(text.replace(/^.*`mood`.*\n/m, ''))).toBe('\n- `Transaction`: new field `mood`.');
    });
  });

  it('wants that line to begin with **Breaking** if something breaks', () => {
    const [problem] = verdict('breaking', '2.0.0', changelog('2.0.0', 'Removed `amount`.'));
    expect(problem?.message).toMatch(/\n {2}- \*\*Breaking\*\* `a`: b\. What to do about it\.$/);
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
});

describe('npm run diff', () => {
  let folder: string;
  const inFolder = (file: string) => join(folder, file);
  const rewrite = async (file: string, change: (text: string) => string) => {
    await writeFile(inFolder(file), change(await readFile(inFolder(file), 'utf8')));
  };
  const releasedVersion = async () => {
    const { info } = JSON.parse(await readFile(inFolder('openapi/released/openapi.json'), 'utf8')) as Json;
    return (info as Json).version;
  };
  const diff = (...args: string[]) => diffIn(args, folder);
  const contractFile = 'openapi/openapi.yaml';
  /** Of what `npm run generate` writes, the part that a release looks at. */
  const generate = async () => {
    await mkdir(inFolder('generated'), { recursive: true });
    const bundled = await bundle(inFolder(contractFile), folder);
    await writeFile(inFolder('generated/openapi.json'), JSON.stringify(bundled));
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'diff-test-'));
    await cp(project, folder, { recursive: true });
    await mkdir(inFolder('openapi/released'));
    await writeFile(inFolder('openapi/released/openapi.json'), JSON.stringify(contract));
    await writeFile(
      inFolder('tsconfig.json'),
      '{ "compilerOptions": { "types": [] }, "files": ["code.ts"] }',
    );
    await writeFile(inFolder('code.ts'), "export const card: 'credit' = 'credit';\n");
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it('refuses options that make no sense, and finds no change where there is none', async () => {
    for (const senseless of [['--release', '--base', 'main'], ['--markdown'], ['what']])
      expect(await diff(...senseless)).toMatchObject({ status: 2 });
    expect(await diff()).toEqual({
      status: 0,
      output: '✓ No change of the contract since openapi/released/openapi.json',
    });
  });

  it('refuses an unannounced breaking change, then releases it with its major version and changelog', async () => {
    await rewrite('openapi/components/schemas/CardType.yaml', (yaml) => yaml.replace(', prepaid', ''));
    const refused = await diff('--release');
    expect(refused.output).toMatch(/Breaking \(1\)\n {2}✖ schema CardType .*`enum` lost prepaid/);
    expect(refused.output).toContain('Set it to 2.0.0');
    expect(refused.output).toContain('Not released.');
    expect(refused.status).toBe(1);
    expect(await releasedVersion()).toBe('1.0.0');
    // The same contract as base: nothing to list, but the rules are about the released one.
    const listed = await diff('--base', inFolder(contractFile));
    expect([listed.status, listed.output]).toEqual([1, expect.stringContaining('0 breaking')]);
    expect(listed.output).toContain('Set it to 2.0.0');
    const [markdown, html] = [inFolder('review.md'), inFolder('review.html')];
    const written = await diff('--markdown', markdown, '--html', html);
    expect(written.status).toBe(1);
    expect(written.output).toMatch(
      /^Wrote .*review\.md\.\nWrote .*review\.html\.\n\n✖ .*Set it to 2\.0\.0.*\n\n✖ CHANGELOG\.md/,
    );
    expect(await readFile(html, 'utf8')).toContain('<title>Contract 1.0.0 → 1.0.0</title>');
    expect(await readFile(markdown, 'utf8')).toMatch(
      /^## schema CardType\n\nUsed by .*\n\n- \*\*Breaking:\*\* `enum` lost prepaid/m,
    );

    await rewrite(contractFile, (yaml) => yaml.replace('version: 1.0.0', 'version: 2.0.0'));
    const section = '## 2.0.0 — 2026-11-15\n\n### Contract\n\n- **Breaking** `prepaid` is gone.\n';
    await writeFile(inFolder('CHANGELOG.md'), `# Changelog\n\n${section}`);
    await generate();
    const { status, output } = await diff('--release', '--json');
    const expected = { ok: true, released: true, counts: { breaking: 1 }, version: '2.0.0', problems: [] };
    expect(JSON.parse(output)).toMatchObject(expected);
    expect(status).toBe(0);
    expect(await releasedVersion()).toBe('2.0.0');
  });

  it('the release writes the version into the files that repeat it', async () => {
    const npm = (version: string) =>
      `{\n  "name": "payments-service",\n  "version": "${version}",\n  "x": { "version": "0.1.0" }\n}\n`;
    await writeFile(inFolder('package.json'), npm('1.0.0'));
    const { status, output } = await diff('--release');
    expect([status, output]).toEqual([
      0,
      expect.stringMatching(
        /Released 2\.0\.0: wrote package\.json\.\n\nCommit it, then tag that commit:\n\n {2}git tag -a v2\.0\.0 -m 2\.0\.0\n\nThen/,
      ),
    ]);
    // The data of the release, for the test of the next one.
    const [, script = ''] = /npx tsx (\S+) 2\.0\.0 v2\.0\.0$/m.exec(output) ?? [];
    expect(existsSync(join(root, script))).toBe(true);
    expect(await readFile(inFolder('package.json'), 'utf8')).toBe(npm('2.0.0'));
  });

  it('compares with a branch', async () => {
    const git = (...args: string[]) =>
      run('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], { cwd: folder });
    await git('init', '--quiet', '--initial-branch=main');
    await writeFile(inFolder('generated/openapi.json'), JSON.stringify(contract));
    await git('add', 'generated/openapi.json');
    await git('commit', '--quiet', '--message=base');
    const listed = await diff('--base', 'main');
    expect(listed).toMatchObject({
      status: 0,
      output: expect.stringMatching(/^Contract 1\.0\.0 \(main\) → 2\.0\.0.*\n\nBreaking \(1\)/) as string,
    });
    expect(await diff('--base', 'mian')).toEqual({
      status: 2,
      output: '--base mian is neither a file nor a branch or commit with generated/openapi.json.',
    });
  });

  it('releases no contract that fails the lint', async () => {
    await rewrite(contractFile, (yaml) =>
      yaml.replace('Newest first.', 'Newest. # TODO: say it').replace('List transactions', 'List them.'),
    );
    const refused = await diff('--release');
    for (const rule of ['rule/summary', 'todo'])
      expect(refused.output).toMatch(new RegExp(`^${contractFile}:\\d+:\\d+ ${rule}$`, 'm'));
    expect(refused.output).toMatch(/\n\nNot released: 2 problems$/);
    expect(refused.status).toBe(1);
    expect(await releasedVersion()).toBe('2.0.0');
    await rewrite(contractFile, (yaml) => yaml.replace('List them.', 'List transactions'));
  });

  it('releases no contract for which the code does not compile, nor one that the code was not generated for', async () => {
    await rewrite(contractFile, (yaml) =>
      yaml
        .replace('Newest. # TODO: say it', 'Newest at the top.')
        .replace('version: 2.0.0', 'version: 2.0.1'),
    );
    await rewrite('CHANGELOG.md', (text) =>
      text.replace('## 2.0.0', '## 2.0.1\n\n### Contract\n\n- Words.\n\n$&'),
    );
    expect(await diff('--release')).toEqual({
      status: 1,
      output:
        'Not released: generated/ is older than openapi/, so the compiler does not know the contract as it is. Run: npm run generate, then release again.',
    });
    await generate();
    await rewrite('code.ts', (code) => code.replace("= 'credit'", "= 'charge'"));
    const refused = await diff('--release');
    expect(refused.output).toMatch(
      /code\.ts\(1,14\): error TS2322: .*'"charge"'.*\n\nNot released: the code does not compile for this contract\. Edit the files named above, then release again\.$/,
    );
    expect(refused.status).toBe(1);
    expect(await releasedVersion()).toBe('2.0.0');
    await rewrite('code.ts', (code) => code.replace("= 'charge'", "= 'credit'"));
    expect((await diff('--release')).output).toContain('Released 2.0.1: ');
    expect(await releasedVersion()).toBe('2.0.1');
  });

  it.each([
    ['a $ref that leads nowhere', 'schemas/FreeText', 'schemas/FreTest', 'no-unresolved-refs'],
    ['a fault of the syntax', 'summary: ', 'summary:', 'yaml-syntax'],
  ])("compares nothing after %s, and shows the lint's message once", async (_fault, right, wrong, rule) => {
    await rewrite(contractFile, (yaml) => yaml.replace(right, wrong));
    const { status, output } = await diff();
    await rewrite(contractFile, (yaml) => yaml.replace(wrong, right));
    expect(output).toMatch(new RegExp(`^${contractFile}:\\d+:\\d+ ${rule}\n`));
    expect(output).toMatch(/\n\nNothing was compared\. Fix the contract, then run: npm run diff$/);
    expect(status).toBe(1);
  });
});
