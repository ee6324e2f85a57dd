// What reviewers read about a change of the contract: as Markdown and as a page. The names and values in it are hostile,
// because a pull request may come from anyone.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { marked } from 'marked';
import { getFileInfo } from 'prettier';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../scripts/diff/change.ts';
import { bundle, compare } from '../../scripts/diff/compare.ts';
import { affectedBy, linesOf } from '../../scripts/diff/report.ts';
import { asHtml, asMarkdown } from '../../scripts/diff/review.ts';
import { root } from '../../scripts/support/root.ts';
import { run } from '../support/processes.ts';

interface Contract extends Json {
  paths: Record<string, Json>;
  components: {
    schemas: Record<string, { enum?: string[]; properties: Json }>;
    examples: Record<string, { value: Json }>;
  };
}

const project = join(root, 'test/fixtures/contract');
const hostile = '</pre><script>alert(1)</script> | @everyone *x* ```';

let review: string;
beforeAll(async () => {
  const base = (await bundle(join(project, 'openapi/openapi.yaml'), project)) as Contract;
  const revision = structuredClone(base);
  base.components.schemas.CardType?.enum?.push(hostile);
  const { schemas, examples } = revision.components;
  if (schemas.Transaction)
    schemas.Transaction.properties.mood = {
      type: 'string',
      description: 'How it feels:\n\n| Mood | Meaning |\n| --- | --- |\n| calm | all is well |\n',
    };
  if (examples.PaymentMethodVisaSucceeded) examples.PaymentMethodVisaSucceeded.value.label = hostile;
  revision.paths['/moods'] = { get: { ...(revision.paths['/transactions']?.get as Json), summary: hostile } };
  const changes = linesOf(await compare(base, revision), base, revision, project);
  const problems = [{ rule: 'version' as const, message: `Set it to 2.0.0. ${hostile}` }];
  const affected = affectedBy(changes, base);
  const outcome = { base: 'base.json', baseVersion: '1.0.0', version: '1.1.0', changes, affected, problems };
  review = await asMarkdown(outcome, base, revision);
});

describe.each([
  ['Markdown', () => marked.parse(review, { async: false })],
  ['HTML', () => asHtml(review)],
])('as %s', (_name, html) => {
  it('has the report first: the changes, who is affected, and what is to do', () => {
    const headings = [...html().matchAll(/<h[12][^>]*>(.*?)<\/h[12]>/g)].map(([, text]) => text);
    expect(headings).toEqual(['Contract 1.0.0 → 1.1.0', 'Before and after']);
    const parts = html().match(
      /^(Breaking|Additions|Other) \(\d\)$|^Who is affected$|^✖ Set it to 2\.0\.0/gm,
    );
    expect(parts).toEqual([
      'Breaking (1)',
      'Additions (2)',
      'Other (1)',
      'Who is affected',
      '✖ Set it to 2.0.0',
    ]);
  });

  it('names who is affected, those with breaking changes first', () => {
    expect(html().split('Who is affected\n')[1]?.split('\n\n')[0]).toBe(
      [
        '  GET /transactions: 1 breaking, 1 addition, 0 other',
        '  POST /payment-methods: 1 breaking, 0 additions, 1 other',
        '  webhook payment-method.created: 1 breaking, 0 additions, 0 other',
      ].join('\n'),
    );
  });

  it('shows the text before and after, without what is far from the change', () => {
    const texts = [...html().matchAll(/<summary>(.*?)<\/summary>/g)].map(([, place]) => place);
    expect(texts).toEqual([
      'example PaymentMethodVisaSucceeded',
      'schema CardType',
      'schema Transaction',
      'GET /moods',
    ]);
    expect(html()).toMatch(/^- {2}label: &quot;1111&quot;\n\+ {2}label: &lt;\/pre&gt;/m);
    expect(html()).not.toContain('created_at');
  });

  it('keeps a table of a description as it is written', () => {
    expect(html()).toMatch(
      /^\+ *\| Mood \| Meaning \|\n\+ *\| --- \| --- \|\n\+ *\| calm \| all is well \|$/m,
    );
  });

  it('keeps what is hostile as text', () => {
    expect(html()).not.toMatch(/<script|<em>/);
    expect(html().match(/&lt;script&gt;alert\(1\)/g)?.length).toBe(6);
  });
});

it('mentions nobody in Markdown', () => {
  // GitHub mentions nobody in code.
  expect(review).toContain('@everyone');
  expect(review.replaceAll(/^(`{3,})\w+\n[^]*?\n\1$/gm, '')).not.toContain('@');
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
