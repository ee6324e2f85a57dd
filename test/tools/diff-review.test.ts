// What reviewers read about a change of the contract: as Markdown and as HTML, from real contracts. The names and values in it
// are hostile, because a pull request may come from anyone.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { marked } from 'marked';
import { getFileInfo } from 'prettier';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../scripts/diff/change.ts';
import { compare } from '../../scripts/diff/compare.ts';
import { linesOf } from '../../scripts/diff/report.ts';
import { asHtml } from '../../scripts/diff/review-html.ts';
import { asMarkdown } from '../../scripts/diff/review-markdown.ts';
import { differingLines, reviewOf, type Review } from '../../scripts/diff/review.ts';
import { root } from '../../scripts/support/root.ts';
import { run } from '../support/processes.ts';

interface Contract extends Json {
  components: {
    schemas: Record<string, { enum: string[]; properties: Json }>;
    examples: Record<string, { summary: string; value: Json }>;
  };
}

const contract = () => JSON.parse(readFileSync(join(root, 'generated/openapi.json'), 'utf8')) as Contract;
const hostile = '</pre><script>alert(1)</script> | @everyone *x* ```';

let review: Review;
beforeAll(async () => {
  const [base, revision] = [contract(), contract()];
  base.components.schemas.CardType?.enum.push(hostile);
  const { Transaction } = revision.components.schemas;
  if (Transaction) Transaction.properties.mood = { type: 'string', description: 'How it feels.' };
  revision.components.schemas.Tone = {
    enum: ['calm', hostile],
    properties: {},
    ...{ type: 'string', description: 'How it sounds.' },
  };
  revision.components.schemas.Mood = {
    enum: [],
    ...{ type: 'object', required: ['name'], description: 'A mood.' },
    properties: {
      name: { type: ['string', 'null'], description: `Its name ${hostile}` },
      tone: { $ref: '#/components/schemas/Tone' },
    },
  };
  const { examples } = revision.components;
  if (examples.PaymentMethodVisaSucceeded) examples.PaymentMethodVisaSucceeded.value.label = hostile;
  const { get } = (revision.paths as Record<string, Json>)['/transactions'] ?? {};
  (revision.paths as Json)['/moods'] = {
    get: {
      ...(get as Json),
      ...{ operationId: 'listMoods', summary: `List moods ${hostile}` },
      requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Mood' } } } },
    },
  };
  const changes = linesOf(await compare(base, revision), base, revision, root);
  const problems = [{ rule: 'version' as const, message: `Set it to 2.0.0. ${hostile}` }];
  review = reviewOf(
    { base: 'base.json', baseVersion: '1.0.0', version: '1.1.0', changes, problems },
    base,
    revision,
  );
});

describe('the review', () => {
  it('has breaking changes first, and counts them', () => {
    expect(review.groups.map(({ title, lines }) => [title, lines.length])).toEqual([
      ['Breaking', 1],
      ['Additions', 2],
      ['Other', 1],
    ]);
    expect(review.total).toBe('1 breaking, 2 additions, 1 other, 2 more with the new operations');
  });

  it('names who is affected, those with breaking changes first', () => {
    expect(review.consumers).toContainEqual({
      ...{ place: 'GET /transactions', breaking: 1, additions: 1, other: 0 },
    });
    expect(review.consumers).toContainEqual({
      ...{ place: 'POST /payment-methods', breaking: 1, additions: 0, other: 1 },
    });
    const places = review.consumers.map(({ place }) => place);
    expect(places).not.toContain('GET /card-scheme-definitions');
    // It is new.
    expect(places).not.toContain('GET /moods');
  });

  it('shows an example before and after, without what is far from the change', () => {
    const [example, ...more] = review.examples;
    expect([example?.name, example?.kind, more]).toEqual(['PaymentMethodVisaSucceeded', 'changed', []]);
    expect(example?.lines.filter(({ mark }) => mark !== ' ')).toEqual([
      { mark: '-', text: '  "label": "1111",' },
      { mark: '+', text: `  "label": ${JSON.stringify(hostile)},` },
    ]);
    expect(example?.lines.length).toBeLessThan(12);
    expect(example?.lines.at(-1)?.text).toBe('…');
  });
});

it('finds the fewest lines that differ', () => {
  const marks = (before: string, after: string) =>
    differingLines(Array.from(before), Array.from(after))
      .map(({ mark, text }) => `${mark}${text}`)
      .join('');
  expect(marks('abcd', 'axcd')).toBe(' a-b+x c d');
  expect(marks('', 'ab')).toBe('+a+b');
  expect(marks('abc', '')).toBe('-a-b-c');
  expect(marks('abcabba', 'cbabac').replaceAll(/[-+]./g, '')).toHaveLength(8);
});

describe.each([
  ['Markdown', () => marked.parse(asMarkdown(review))],
  ['HTML', () => asHtml(review)],
])('as %s', (_name, html) => {
  it('has everything in order', () => {
    const headings = [...html().matchAll(/<h[12][^>]*>(.*?)<\/h[12]>/g)].map(([, text]) => text);
    expect(headings).toEqual([
      'Contract 1.0.0 → 1.1.0',
      'To do before this is merged',
      'Breaking (1)',
      'Additions (2)',
      'Other (1)',
      'New operations',
      'New schemas',
      'Who is affected',
      'Examples, before and after',
    ]);
    expect(html()).toContain('<td><code>GET /transactions</code></td>');
    expect(html()).toMatch(
      /<code>GET \/moods<\/code>: List moods .* Needs <code>transactions\.read<\/code>; one merchant account, or all\. Takes <code>X-Service-.*<code>limit<\/code>.*; answers 200, 400,.* New with it: schema Mood, schema Tone\./,
    );
    expect(html()).toMatch(/<td>string or null<\/td>\s*<td>yes<\/td>\s*<td>Its name /);
    expect(html()).toMatch(
      /<p><code>Tone<\/code>: How it sounds\. One of <code>calm<\/code>, <code>.*<\/code>\.<\/p>/,
    );
    expect(html()).toContain('<code>Mood</code>: A mood.');
    expect(html()).toMatch(/string, optional: How it feels\./);
    expect(html()).toContain('PaymentMethodVisaSucceeded (changed, in POST /payment-methods)');
  });

  it('keeps what is hostile as text', () => {
    expect(html()).not.toMatch(/<script|<em>/);
    expect(html().match(/&lt;script&gt;alert\(1\)/g)?.length).toBe(6);
  });
});

it('mentions nobody in Markdown', () => {
  // GitHub mentions nobody in code.
  const prose = asMarkdown(review).replaceAll(/(`{3,})\w+\n[^]*?\n *\1$|(`{4,}) .*? \2/gm, '');
  expect(prose).toContain('&#64;everyone');
  expect(prose).not.toContain('@everyone');
});

it('is neither committed nor linted under the names that the guide gives it', async () => {
  const guide = readFileSync(join(root, 'docs/guides/api-designer.md'), 'utf8');
  const files = new Set([...guide.matchAll(/--(?:html|markdown) ([\w.]+)/g)].map(([, file = '']) => file));
  expect([...files].sort()).toEqual(['review.html', 'review.md']);
  for (const file of files) {
    expect(await run('git', ['check-ignore', file])).toMatchObject({ stdout: `${file}\n` });
    expect(await getFileInfo(join(root, file), { ignorePath: join(root, '.prettierignore') })).toMatchObject({
      ignored: true,
    });
  }
});
