// Each operation and event has a page, which is made of the contract: as HTML that needs no scripts, as Markdown, and in
// llms-full.txt. Whatever the contract names is there.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  itemsOf,
  parseContract,
  type Content,
  type Contract,
  type Item,
  type Schema,
} from '../../scripts/docs/contract.ts';
import { fieldsOf, rulesOf } from '../../scripts/docs/fields.ts';
import { readGuides } from '../../scripts/docs/guides.ts';
import { createLinks } from '../../scripts/docs/links.ts';
import { render } from '../../scripts/docs/markdown.ts';
import { operationPage } from '../../scripts/docs/operation-page.ts';
import { workflowPage } from '../../scripts/docs/workflow-page.ts';
import { root } from '../../scripts/support/root.ts';
import { loadContract, resolve } from '../../server/kit/contract/load.ts';
import { chromiumPath, launch } from '../support/browser.ts';

/** Built by test/support/global.ts. */
const site = join(root, 'site');
const read = (file: string) => readFileSync(join(site, file), 'utf8');
const contract = parseContract(loadContract().text);
const items = itemsOf(contract).map((item) => ({ name: item.operation.operationId, item }));

/** What a schema names: by path, with the values that are allowed there. It knows nothing of how pages are made. */
function namedBy(given: Schema | boolean | undefined, path = ''): [path: string, values: unknown[]][] {
  if (typeof given !== 'object') return [];
  const {
    properties = {},
    items: ofItems,
    additionalProperties,
    ...schema
  } = resolve<Schema>(contract, given);
  const values = [schema.enum ?? [], 'const' in schema ? schema.const : [], schema.examples ?? []].flat();
  const parts = [schema.anyOf ?? [], schema.oneOf ?? [], schema.allOf ?? [], ofItems ?? []].flat();
  return [
    [path, values.filter((value) => value !== null)],
    ...parts.flatMap((part) => namedBy(part, path)),
    ...Object.entries(properties).flatMap(([name, one]) => namedBy(one, `${path}.${name}`)),
    ...namedBy(additionalProperties, `${path}.any other name`),
  ];
}

/** By the heading of its section. */
function expectedOf({ operation }: Item): Map<string, [path: string, values: unknown[]][]> {
  const { parameters = [], requestBody, responses = {} } = operation;
  const expected = new Map<string, [string, unknown[]][]>();
  const places: Record<string, string> = {
    path: 'Path parameters',
    query: 'Query parameters',
    header: 'Headers',
  };
  for (const { name, in: place, schema } of parameters.map((one) => resolve(contract, one))) {
    const heading = places[place] ?? '';
    expected.set(heading, [...(expected.get(heading) ?? []), ...namedBy(schema, `.${name}`)]);
  }
  const schemaOf = ({ content }: Content) => content?.['application/json']?.schema;
  if (requestBody) expected.set('Body', namedBy(schemaOf(requestBody)));
  for (const [status, response] of Object.entries(responses)) {
    const { headers = {}, ...body } = resolve(contract, response);
    expected.set(status, namedBy(schemaOf(body)));
    for (const name of Object.keys(headers))
      expected.set('Response headers', [...(expected.get('Response headers') ?? []), [`.${name}`, []]]);
  }
  return expected;
}

/** The fields in a text, by section and path, each with what is said about it. */
function shownIn(markdown: string): Map<string, Map<string, string>> {
  const shown = new Map<string, Map<string, string>>();
  let section = new Map<string, string>();
  let path: string[] = [];
  for (const line of markdown.replaceAll(/^```[^]*?^```/gm, '').split('\n')) {
    const [, heading] = /^##+ ([^`]+?)(?: `.*)?$/.exec(line) ?? [];
    if (heading) [path, section] = [[], new Map<string, string>()];
    if (heading) shown.set(heading, section);
    const [, earlier = ''] = /^Fields as in (\w+)\.$/.exec(line) ?? [];
    for (const [key, text] of shown.get(earlier) ?? []) section.set(key, text);
    const [, indent = '', field, kind] = /^( *)- (?:`([^`]+)`|\*\*([^*]+)\*\*) _/.exec(line) ?? [];
    if (field ?? kind) path = [...path.slice(0, indent.length / 2), field ? `.${field}` : ''];
    const key = path.join('');
    section.set(key, `${section.get(key) ?? ''}\n${line}`);
  }
  return shown;
}

const full = read('llms-full.txt');
const partOf = ({ operation }: Item) =>
  full.split(/\n(?=# )/).find((part) => part.startsWith(`# ${operation.summary}\n`)) ?? '';

describe.each(items)('llms-full.txt, about $name', ({ item }) => {
  const shown = shownIn(partOf(item));
  const expected = expectedOf(item);

  it('names every parameter and field of the contract, where it belongs, and nothing else', () => {
    for (const [heading, named] of expected) {
      const paths = [...(shown.get(heading)?.keys() ?? [])].filter(Boolean);
      expect(paths.sort(), heading).toEqual([...new Set(named.map(([path]) => path).filter(Boolean))].sort());
    }
  });

  it('lists every allowed value, with its field or where that field says', () => {
    const everything = [...shown.values()].flatMap((section) => [...section]);
    for (const [heading, named] of expected)
      for (const [path, values] of named) {
        const text = shown.get(heading)?.get(path) ?? '';
        const [, first = ''] = /the values of `(.+?)` above/.exec(text) ?? [];
        const said = first
          ? everything.flatMap(([key, one]) => (key === `.${first}` ? one : [])).join()
          : text;
        for (const value of values) expect(said, `${heading} ${path}`).toContain(`\`${String(value)}\``);
      }
  });

  it('says what to do about every declared error, and has an example of every body', () => {
    const { requestBody, responses = {} } = item.operation;
    const bodies = [requestBody, ...Object.values(responses)].map((one) => resolve(contract, one)?.content);
    for (const [status, response] of Object.entries(responses)) {
      const [, section = ''] =
        new RegExp(`^### ${status}\\b(.*?)^##`, 'ms').exec(`${partOf(item)}\n##`) ?? [];
      expect(section.trim(), status).not.toBe('');
      if (!item.isEvent && Number(status) >= 400) expect(section).toContain('**What to do:** ');
      const { code } = Object.values(
        resolve(contract, response).content?.['application/json']?.examples ?? {},
      )
        .map((one) => resolve(contract, one).value as { code?: string })
        .find((value) => value.code) ?? { code: '' };
      expect(section).toContain(code ?? '');
    }
    const blocks = [...partOf(item).matchAll(/^```json\n([^]*?)^```/gm)].map(
      ([, json = '']) => JSON.parse(json) as unknown,
    );
    expect(blocks).toHaveLength(bodies.filter(Boolean).length);
    const [first] = Object.values(bodies.find(Boolean)?.['application/json']?.examples ?? {});
    expect(blocks).toContainEqual(resolve(contract, first)?.value);
  });

  it('is what its page says, as Markdown and as HTML', () => {
    const [markdown, html] = [read(item.page.replace('.html', '.md')), read(item.page)];
    const ownWords = (text: string) => text.replaceAll(/\]\([^)]*\)/g, ']').trim();
    expect(ownWords(partOf(item))).toBe(ownWords(markdown));
    for (const [, section] of shown)
      for (const path of section.keys())
        expect(html).toContain(`>${path.split('.').at(-1) ?? ''}</code>`.replace('><', ''));
  });
});

it('llms-full.txt has every error code of the contract', () => {
  const { ErrorCode } = loadContract().document.components.schemas as { ErrorCode: { enum: string[] } };
  expect(ErrorCode.enum.length).toBeGreaterThan(10);
  for (const code of ErrorCode.enum) expect(full).toContain(`\`${code}\``);
});

it('every page has a link to the same text as Markdown', () => {
  const pages = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.html'),
  );
  expect(pages.length).toBeGreaterThan(35);
  const lacking = pages.filter((file) => {
    const name = file.replace(/^.*\//, '').replace('.html', '.md');
    const linked = new RegExp(`<a href="[./]*(\\w+/)?${name}">This page as Markdown</a>`).test(read(file));
    return !linked || !readdirSync(join(site, file, '..')).includes(name);
  });
  // Redoc shows the contract, and a page that is not there says nothing.
  expect(lacking.sort()).toEqual(['404.html', 'reference.html']);
});

it('a workflow says what is expected, and does not build with an expression that has no words', () => {
  const workflow = (condition: string, operationId = 'payments.listTransactions') =>
    workflowPage(contract, {
      workflowId: 'one',
      summary: 'One step',
      description: 'It reads',
      inputs: { properties: { 'my-token': { description: 'A token' } } },
      parameters: [{ in: 'header', name: 'Authorization', value: 'Bearer {$inputs.my-token}' }],
      steps: [
        {
          stepId: 'read',
          description: 'Read.',
          operationId,
          successCriteria: [{ condition: '$statusCode == 200' }, { condition }],
        },
      ],
    });
  const page = workflow("$response.body#/items/0/type == 'transaction'");
  for (const part of [
    '- `$MY_TOKEN`: A token.\n',
    '  -H "Authorization: Bearer $MY_TOKEN"\n',
    '**Expected:** the HTTP status is `200`, `items[0].type` is `transaction`.\n',
    '{ "items": [{ "type": "transaction" }], … }\n',
  ])
    expect(page).toContain(part);
  expect(() => workflow('$url == 1')).toThrow('no words for $url');
  expect(() => workflow('$statusCode == 200', 'payments.listAll')).toThrow('no operation listAll');
});

describe('guides', () => {
  const page = (title: string, ...lines: string[]) => `---\n${lines.join('\n')}\n---\n\n# ${title}\n`;
  const files = {
    'openapi/introduction.md': page('Rooms', 'about:', '  rooms: What a room is', '  dates: From and to'),
    'docs/guides/prices.md': page('What it costs', 'group: Guides', 'order: 11', 'about: Prices'),
    'docs/operating.md': page('Run it', 'group: Operate', 'order: 10', 'about: Run it', 'slug: running'),
    'docs/glossary.md': '# Glossary\n',
    'CHANGELOG.md': '# Changelog\n',
  };
  const bookings = { ...contract, info: { ...contract.info, description: 'Hello.\n\n# Rooms\n\n# Dates\n' } };
  const readFrom = (more: Record<string, string>) => {
    const project = mkdtempSync(join(tmpdir(), 'docs-guides-'));
    try {
      for (const [file, text] of Object.entries({ ...files, ...more })) {
        mkdirSync(dirname(join(project, file)), { recursive: true });
        writeFileSync(join(project, file), text);
      }
      return readGuides(bookings, project);
    } finally {
      rmSync(project, { recursive: true });
    }
  };

  it('are the files that say so, without workflows too, each in its place between the sections of the introduction', () => {
    expect(readFrom({}).map(({ slug, group, about }) => [slug, group, about])).toEqual([
      ['rooms', 'Guides', 'What a room is'],
      ['prices', 'Guides', 'Prices'],
      ['dates', 'Guides', 'From and to'],
      ['running', 'Operate', 'Run it'],
    ]);
  });

  it('keep the address of a section that has another name now, and its old links', () => {
    const [guide] = readFrom({
      'openapi/introduction.md': page(
        'Rooms',
        'slugs: { rooms: halls }',
        'about:',
        '  halls: Halls',
        '  dates: D',
      ),
    });
    expect([guide?.slug, guide?.label]).toEqual(['halls', 'Rooms']);
    const links = createLinks({ contract: bookings, guides: guide ? [guide] : [], asset: () => '' })(
      'x.md',
      '',
    );
    expect(['#section/Rooms', '#section/halls'].map(links)).toEqual(Array(2).fill('guides/halls.html'));
  });

  it.each([
    [
      'docs/guides/prices.md',
      '# Prices\n',
      'Say in the first lines of docs/guides/prices.md where the docs show it',
    ],
    ['docs/operating.md', page('Run it', 'group: Run'), 'in the first lines of docs/operating.md'],
    ['openapi/introduction.md', page('Rooms', 'about:', '  rooms: Rooms'), 'what dates is about'],
  ])('without its place, %s is named', (file, text, message) => {
    expect(() => readFrom({ [file]: text })).toThrow(message);
  });
});

describe('rules in words', () => {
  const rules = (schema: Schema) => rulesOf(contract, schema);

  it.each<[string[], Schema]>([
    [['string', '13 to 19 characters'], { type: 'string', minLength: 13, maxLength: 19 }],
    [['string', '5 characters'], { type: 'string', minLength: 5, maxLength: 5 }],
    [
      ['array of string (uuid)', 'at least 1 item', 'each at most 3 characters'],
      { type: 'array', minItems: 1, items: { type: 'string', format: 'uuid', maxLength: 3 } },
    ],
    [
      ['integer or null', 'at least 0', 'default `20`'],
      { type: ['integer', 'null'], minimum: 0, default: 20 },
    ],
    [
      ['string or null', 'one of `a`, `b`'],
      { anyOf: [{ enum: ['a', 'b', null], type: 'string' }, { type: 'null' }] },
    ],
    [['any value', 'always `1`'], { const: 1 }],
    [
      ['object', 'at most 1 property', 'not together: `a`, `b`'],
      { type: 'object', maxProperties: 1, not: { required: ['a', 'b'] } },
    ],
    // What has no words yet.
    [['number', 'multipleOf `5`'], { type: 'number', multipleOf: 5 }],
  ])('%j', (words, schema) => {
    expect(rules(schema)).toEqual(words);
  });

  it('shows a schema that contains itself once, and all parts of one that is put together', () => {
    const tree: Schema = { type: 'object', properties: { name: { type: 'string' } } };
    tree.properties = { ...tree.properties, children: { type: 'array', items: tree } };
    const [name, children] = fieldsOf(contract, { allOf: [tree, { properties: { size: {} } }] });
    expect([name?.name, children?.name, children?.fields]).toEqual(['name', 'children', []]);
  });
});

describe('pages of an API that is not about payments', () => {
  const booking: Schema = {
    type: 'object',
    required: ['table'],
    properties: { table: { type: 'integer', maximum: 40, description: 'The number of the *table*.' } },
  };
  const body: Content = {
    description: 'A booking.',
    content: { 'application/json': { schema: booking, examples: { one: { value: { table: 3 } } } } },
  };
  const other = {
    info: { title: 'Bookings', summary: 'Book a table', description: '', version: '1.0.0' },
    servers: [{ url: 'http://127.0.0.1:8080' }],
    tags: [{ name: 'Bookings' }],
    paths: {
      '/bookings/{id}': {
        put: {
          operationId: 'moveBooking',
          tags: ['Bookings'],
          summary: 'Move a booking',
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          requestBody: body,
          responses: {
            '200': body,
            '404': { description: 'There is no such booking. Look for it by its date.' },
            '204': { description: 'Nothing changed.' },
          },
        },
      },
    },
  } as unknown as Contract;

  it('have the same parts', () => {
    const [item] = itemsOf(other);
    if (!item) throw new Error('The contract has no operation.');
    const page = operationPage(other, item);
    expect(item.page).toBe('reference/move-booking.html');
    for (const part of [
      '# Move a booking\n\n`PUT /bookings/{id}`\n',
      '## Path parameters\n\n- `id` _string, required_\n',
      '## Body\n\nA booking.\n\n```json\n{ "table": 3 }\n```\n\n- `table` _integer, required, at most 40_\\\n  The number of the *table*.\n',
      '### 200\n\nA booking.\n',
      '### 404\n\nThere is no such booking. **What to do:** Look for it by its date.\n',
      '### 204\n\nNothing changed.\n',
    ])
      expect(page).toContain(part);
    expect(render(page, (href) => href).html).toContain('<li id="body.table"><code>table</code>');
  });
});

describe.skipIf(!chromiumPath)('without scripts', () => {
  it('a page has all of its text, and samples in all languages', async () => {
    const browser = await launch();
    try {
      const page = await browser.newPage({ javaScriptEnabled: false });
      await page.goto(`file://${join(site, 'reference/create-payment-method.html')}`);
      for (const text of ['external_identifier', 'duplicate_record', 'import requests'])
        expect(await page.getByText(text).first().isVisible(), text).toBe(true);
      for (const one of await page.locator('.fold li').all()) expect(await one.isVisible()).toBe(true);
      await page
        .getByRole('navigation', { name: 'Docs' })
        .getByRole('link', { name: 'List transactions' })
        .click();
      await page.getByRole('heading', { name: 'List transactions' }).waitFor();
    } finally {
      await browser.close();
    }
  });
});
