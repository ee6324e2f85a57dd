// What reviewers read about a change of the contract: as Markdown and as a page. The names and values in it are hostile,
// because a pull request may come from anyone.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { marked } from 'marked';
import { getFileInfo } from 'prettier';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../scripts/diff/change.ts';
import { compare } from '../../scripts/diff/compare.ts';
import { linesOf } from '../../scripts/diff/report.ts';
import { asHtml, asMarkdown } from '../../scripts/diff/review.ts';
import { bundle } from '../../scripts/generate/bundle.ts';
import { root } from '../../scripts/support/root.ts';
import { run } from '../support/processes.ts';

interface Parts extends Json {
  paths: Record<string, Json>;
  components: {
    schemas: Record<string, { enum?: string[]; properties: Json; required?: string[] }>;
    examples: Record<string, { value: Json }>;
  };
}

const readParts = async () => (await bundle(join(project, 'openapi/openapi.yaml'), project)) as Json as Parts;

const project = join(root, 'test/fixtures/contract');
const hostile = '</pre><script>alert(1)</script> | @everyone *x* ```';

let review: string;
beforeAll(async () => {
  const base = await readParts();
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
  const outcome = { base: 'base.json', baseVersion: '1.0.0', version: '1.1.0', changes, problems };
  review = asMarkdown(outcome, base, revision);
});

describe.each([
  ['Markdown', () => marked.parse(review, { async: false })],
  ['HTML', () => asHtml(review)],
])('as %s', (_name, html) => {
  const listed = () => html().replaceAll(/<pre>[^]*?<\/pre>/g, '');

  it('says what is to do, then lists the changes of each operation, those that break it first', () => {
    expect(html()).toContain('<p>✖ Set it to 2.0.0. ');
    const headings = [...html().matchAll(/<h[12][^>]*>(.*?)<\/h[12]>/g)].map(([, text]) => text);
    expect(headings).toEqual([
      'Contract 1.0.0 → 1.1.0',
      'schema CardType',
      'GET /moods',
      'schema Transaction',
      'POST /payment-methods',
      'Before and after',
    ]);
    expect(html()).toMatch(
      /<h2>schema CardType<\/h2>\n<p>Used by .*POST \/payment-methods.*<\/p>\n<ul>\n<li><strong>Breaking:<\/strong> <code>enum<\/code> lost/,
    );
    expect(html()).toMatch(/<li>Addition: new field <code>mood<\/code> \(<code>openapi/);
  });

  it('folds what matters to nobody', () => {
    expect(html()).toMatch(
      /<summary>Other \(1\)<\/summary>\s*<h2>POST \/payment-methods<\/h2>\s*<ul>\s*<li>example Pay/,
    );
  });

  it('shows the text before and after, without what is far from the change', () => {
    const texts = [...html().matchAll(/<summary>(.*?)<\/summary>/g)].map(([, place]) => place);
    expect(texts).toEqual([
      'Other (1)',
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

  it('keeps what is hostile as text, and mentions nobody outside of code', () => {
    expect(html()).not.toMatch(/<script|<em>/);
    expect(html().match(/(&lt;|&#60;)script(&gt;|&#62;)alert\(1\)/g)?.length).toBe(6);
    expect(listed()).toMatch(/(@|&#64;)(\u2060|&#8288;)everyone/);
    expect(listed()).not.toMatch(/(@|&#64;)everyone/);
  });
});

it('lists nothing that only follows from an addition', async () => {
  const base = await readParts();
  const revision = structuredClone(base);
  const { schemas } = revision.components;
  const { Transaction } = schemas;
  if (!Transaction) throw new Error('The fixture has no Transaction.');
  Transaction.properties.mood = { $ref: '#/components/schemas/Mood' };
  Transaction.required?.push('mood');
  schemas.Mood = { properties: {} };
  const changes = linesOf(await compare(base, revision), base, revision, project);
  expect(changes.map(({ rating, what }) => `${rating}: ${what}`)).toEqual(['addition: new field `mood`']);
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
