// Builds the docs, serves them as the service does, walks every link, and opens them in a real browser.
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, normalize, relative } from 'node:path';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { operations } from '../../generated/operations.ts';
import { forReaders, itemsOf, parseContract, type Item } from '../../scripts/docs/contract.ts';
import { readGuides } from '../../scripts/docs/guides.ts';
import { createLinks, linkReference } from '../../scripts/docs/links.ts';
import { render } from '../../scripts/docs/markdown.ts';
import { root } from '../../scripts/support/root.ts';
import { loadContract, publish } from '../../server/kit/contract/load.ts';
import { createExpress } from '../../server/kit/http/express.ts';
import { serveDocs } from '../../server/kit/http/static.ts';
import { axe, chromiumPath, keepDiary, launch, withoutChromium, type Diary } from '../support/browser.ts';

/** Built by test/support/global.ts. */
const site = join(root, 'site');
const { document, text } = loadContract();
const published = publish(document);
const contract = parseContract(text);
const guides = readGuides(contract);
const items = itemsOf(contract).map((item) => ({ name: item.operation.operationId, item }));

const built = new Map<string, string>();
let server: Server;
let address: string;
let sandbox: Server;
let sandboxAddress: string;

async function listen(one: Server): Promise<string> {
  await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(one.address() as AddressInfo).port}/docs/`;
}

beforeAll(async () => {
  for (const file of filesOf(site)) built.set(file, readFileSync(join(site, file), 'latin1'));
  const app = createExpress();
  serveDocs(app, site, { kind: 'production', hasConsole: false });
  server = createServer(app);
  address = await listen(server);
  const inSandbox = createExpress();
  serveDocs(inSandbox, site, { kind: 'sandbox', hasConsole: true });
  sandbox = createServer(inSandbox);
  sandboxAddress = await listen(sandbox);
});
afterAll(() => {
  server.close();
  sandbox.close();
});

const filesOf = (folder: string) =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));

/** The links of a page or a Markdown file that stay in the site, as file and anchor. */
function linksOf(file: string): { file: string; anchor: string }[] {
  const content = built.get(file) ?? '';
  const found = file.endsWith('.md')
    ? content.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/\]\(([^)\s]+)\)/g)
    : content.replaceAll(/<script\b[^>]*>[\s\S]+?<\/script>/g, '').matchAll(/\s(?:href|src)="([^"]*)"/g);
  return (
    [...found]
      .map(([, link = '']) => link.replaceAll('&#38;', '&'))
      // This page is served at any depth.
      .map((link) => (file === '404.html' ? link.replace(/^\/docs\//, '') : link))
      .filter((link) => !/^(https?:|data:|mailto:)/.test(link))
      // The landing page and the console, beside the docs.
      .filter((link) => !/^(\.\.\/)+(console\/|$)/.test(link))
      // Redoc's own menu, which is hidden, and whose links its script completes.
      .filter((link) => file !== 'reference.html' || !link.startsWith('/'))
      .map((link) => {
        const [path = '', ...anchor] = link.split('#');
        return { file: path === '' ? file : normalize(join(dirname(file), path)), anchor: anchor.join('#') };
      })
  );
}

/** Redoc makes its anchors in the browser. Which of them exist, the contract says. */
const referenceAnchors = new Set(itemsOf(contract).map(({ href }) => href.replace('reference.html#', '')));

function isThere({ file, anchor }: { file: string; anchor: string }): boolean {
  const target = built.get(file);
  if (target === undefined) return false;
  if (anchor === '' || file.endsWith('.md')) return true;
  if (target.includes(` id="${anchor}"`)) return true;
  return file === 'reference.html' && referenceAnchors.has(anchor);
}

describe('the built site', () => {
  it('has every guide as a page and as Markdown, in a menu with the reference or in that of operators', () => {
    const index = built.get('index.html') ?? '';
    expect(index).toContain('Three steps to a first call');
    const menuOf = (file: string) => /<nav id="menu"[^]*?<\/nav>/.exec(built.get(file) ?? '')?.[0] ?? '';
    const operate = menuOf('guides/operating.html');
    for (const { slug, group } of guides) {
      expect(built.has(`guides/${slug}.md`), slug).toBe(true);
      const isForIntegrators = group !== 'Operate' && group !== 'Contribute';
      const own = menuOf(`guides/${slug}.html`);
      expect(own.includes(`href="../guides/${slug}.html" aria-current="page"`), slug).toBe(true);
      // Integrators have one link to the others.
      const isLinked = isForIntegrators || slug === 'operating';
      expect(menuOf('index.html').includes(`href="guides/${slug}.html"`), slug).toBe(isLinked);
      expect(operate.includes(`href="../guides/${slug}.html"`), slug).toBe(!isForIntegrators);
    }
    expect(guides.map(({ slug }) => slug)).toEqual(
      expect.arrayContaining([
        ...['getting-started', 'authentication', 'pages', 'errors', 'idempotency', 'webhooks', 'client'],
        ...['sandbox', 'going-live', 'operating', 'settings', 'operator'],
      ]),
    );
    for (const { page, href } of itemsOf(contract)) {
      expect(index).toContain(`href="${page}"`);
      // In the one-page reference, the menu leads to its parts.
      expect(menuOf('reference.html')).toContain(`href="${href}"`);
      expect((built.get(page) ?? '').match(/reference\.html/g), page).toEqual(['reference.html']);
    }
  });

  it('calls each guide by one name and describes it', () => {
    const llms = built.get('llms.txt') ?? '';
    for (const { slug, label, about, markdown } of guides) {
      expect(about, slug).not.toBe('');
      expect(markdown).toContain(`# ${label}\n`);
      expect(llms).toContain(`- [${label}](/docs/guides/${slug}.md): ${about}\n`);
    }
    const sections = [...contract.info.description.matchAll(/^# (.+)$/gm)].map(([, heading]) => heading);
    expect(guides.map(({ label }) => label)).toEqual(expect.arrayContaining(sections));
  });

  it('has an anchor at each status of the table of errors', () => {
    const page = built.get('guides/errors.html') ?? '';
    for (const status of [400, 401, 403, 404, 405, 409, 422, 425, 429, 500, 502, 504])
      expect(page).toContain(`<tr id="${status}"><td>${status}</td>`);
  });

  it('has no link that leads nowhere, in pages, Markdown and llms.txt', () => {
    const pages = [...built.keys()].filter((file) => /\.(html|md)$/.test(file));
    const dead = pages.flatMap((file) =>
      linksOf(file)
        .filter((link) => !isThere(link))
        .map((link) => `${file} → ${link.file}#${link.anchor}`),
    );
    expect(dead).toEqual([]);
    expect(pages.flatMap(linksOf).length).toBeGreaterThan(1_000);
    // A program goes on with Markdown, and people with pages.
    const crossed = pages.flatMap((file) =>
      linksOf(file).filter((link) => file.endsWith('.md') && link.file.endsWith('.html')),
    );
    expect(crossed).toEqual([]);
    const listedFiles = [...(built.get('llms.txt') ?? '').matchAll(/\]\(([^)]+)\)/g)].map(
      ([, to = '']) => to,
    );
    expect(listedFiles.filter((file) => !built.has(file.replace(/^\/(docs\/)?/, '')))).toEqual([]);
    expect(listedFiles.length).toBeGreaterThan(15);
  });

  it('fails to build if a link leads nowhere', () => {
    const links = createLinks({ contract, guides, asset: () => '' })('docs/guides/keys.md', '../');
    expect(links('../operating.md#poolers')).toBe('../guides/operating.html#poolers');
    expect(links('../../openapi/introduction.md#errors')).toBe('../guides/errors.html');
    for (const link of ['../server/app.ts', '../scaling.md', '#section/Error', '#operation/listTransaction'])
      expect(() => links(link), link).toThrow(/Broken link in docs\/guides\/keys\.md/);
    const spoilt = parseContract(text.replaceAll('#section/Rate-limits', '#section/Rate-limit'));
    expect(() => linkReference(spoilt, links)).toThrow(/#section\/Rate-limit/);
  });

  const samples = (path: string, method = 'get', shown = forReaders(contract)) =>
    Object.fromEntries(
      (shown.paths[path]?.[method]?.['x-codeSamples'] ?? []).map(({ lang, source }) => [lang, source]),
    );

  it('has a link to the console in each operation', () => {
    const { paths } = linkReference(contract, (href) => href);
    for (const { operationId, description } of Object.values(paths).flatMap((item) => Object.values(item)))
      expect(description).toContain(`](../console/#${operationId})`);
    for (const { operation, page } of itemsOf(contract).filter(({ isEvent }) => !isEvent))
      expect(built.get(page)).toContain(`href="../../console/#${operation.operationId}"`);
  });

  it('has samples of each operation in nine languages, which read the token from the environment', () => {
    const languages = ['curl', 'TypeScript', 'JavaScript', 'Python', 'PHP', 'Ruby', 'Go', 'Java', 'C#'];
    for (const [path, item] of Object.entries(contract.paths))
      for (const method of Object.keys(item)) {
        const found = samples(path, method);
        expect(Object.keys(found), path).toEqual(languages);
        for (const [lang, source] of Object.entries(found)) {
          expect(source, `${lang} ${path}`).toContain('http://127.0.0.1:8080');
          expect(source.match(/TOKEN/g), `${lang} ${path}`).toHaveLength(1);
          expect(source, `${lang} ${path}`).not.toMatch(/\$KEY|http:\/\/server|PORT/);
        }
      }
  });

  it('has samples with the first example as a body, in the words of each language', () => {
    const changed = parseContract(text);
    const content = changed.paths['/payment-methods']?.post?.requestBody?.content?.['application/json'];
    if (content) content.examples = { odd: { value: { a: null, b: ['true, "null"', true, false] } } };
    const found = samples('/payment-methods', 'post', forReaders(changed));
    expect(found.TypeScript).toContain(`client.POST('/payment-methods', { body: {\n  "a": null`);
    expect(found.Python).toContain(String.raw`"b": ["true, \"null\"", True, False]`);
    expect(found.Go).toContain(String.raw`"true, \"null\"",`);
    // Texts of several lines: those of Java have escapes, those of C# have none.
    expect(found.Java).toContain(String.raw`"true, \\"null\\"",`);
    expect(found['C#']).toContain(String.raw`"true, \"null\"",`);
  });

  it('has samples with an ID in the path', () => {
    const [path, id] = ['/payment-methods/{card_id}', '2f1c6a52-6f0e-4c55-9d3b-8a4f6f2f9b11'];
    const changed = parseContract(text);
    const { post } = changed.paths['/payment-methods'] ?? {};
    const parameters = [{ name: 'card_id', in: 'path', example: id }];
    if (post) changed.paths[path] = { patch: { ...post, parameters } };
    const { TypeScript, ...others } = samples(path, 'patch', forReaders(changed));
    for (const [lang, source] of Object.entries(others)) expect(source, lang).toContain(`/${id}`);
    expect(TypeScript).toContain(`client.PATCH('${path}', { params: { path: { card_id: "${id}" } }, body: {`);
  });

  it('has samples that can be run twice: with a new Idempotency-Key where one is taken, and no fixed identifier', () => {
    const having = Object.entries(contract.paths).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((method) => samples(path, method).curl?.includes('Idempotency-Key'))
        .map((method) => `${method} ${path}`),
    );
    const taking = Object.values(operations).filter(({ takesKey }) => takesKey);
    expect(having.sort()).toEqual(taking.map(({ method, path }) => `${method} ${path}`).sort());
    const { TypeScript, ...others } = samples('/payment-methods', 'post');
    // Our client makes one itself.
    expect(TypeScript).not.toContain('Idempotency-Key');
    for (const [lang, source] of Object.entries(others)) expect(source, lang).toContain('Idempotency-Key');
    expect(JSON.stringify([TypeScript, others])).not.toMatch(/[" ]external_identifier/);
  });

  it('has the published contract, in JSON and in YAML', () => {
    expect(JSON.parse(readFileSync(join(site, 'openapi.json'), 'utf8'))).toEqual(published);
    expect(parse(readFileSync(join(site, 'openapi.yaml'), 'utf8'))).toEqual(published);
  });

  it('shows no HTML of a text as HTML', () => {
    expect(render('a <img src=x onerror=alert(1)> b', (href) => href).html).not.toContain('<img');
  });

  it('shows readers what a reader needs, and downloads everything', () => {
    const shown = JSON.stringify(forReaders(contract));
    for (const hidden of ['9007199254740991', String.raw`[^\\u0000]`, '[ -~]', '6553[0-5]']) {
      expect(text).toContain(hidden);
      expect(shown).not.toContain(hidden);
    }
    // Without a click.
    for (const filter of ['status', 'payment_source']) {
      const shownFilter = forReaders(contract).paths['/transactions']?.get?.parameters?.find(
        ({ name }) => name === filter,
      );
      expect(shownFilter?.description).toMatch(/One of (`\w+`(, |\.$)){5,}/);
    }
    // What says how a value looks stays.
    expect(shown).toContain('^[0-9]{2}/[0-9]{2}$');
  });
});

describe('the site as it is served', () => {
  const asset = () => [...built.keys()].find((file) => /^assets\/redoc\..*\.js$/.test(file)) ?? '';

  it.each(['br', 'gzip'])('compressed with %s', async (encoding) => {
    const response = await fetch(address + asset(), { headers: { 'accept-encoding': encoding } });
    expect(response.headers.get('content-encoding')).toBe(encoding);
    expect(response.headers.get('vary')).toBe('Accept-Encoding');
    expect(Number(response.headers.get('content-length'))).toBeLessThan(750_000);
    expect(Buffer.from(await response.arrayBuffer()).toString('latin1') === built.get(asset())).toBe(true);
  });

  it('as it is for a client that accepts no encoding', async () => {
    const response = await fetch(address, { headers: { 'accept-encoding': 'identity' } });
    expect(response.headers.get('content-encoding')).toBeNull();
    expect(await response.text()).toContain('<title>Payments Service API</title>');
  });

  it('cached for ever if the name has a digest, and otherwise asked for again', async () => {
    const cache = async (path: string) => (await fetch(address + path)).headers.get('cache-control');
    expect(await cache(asset())).toBe('public, max-age=31536000, immutable');
    expect([await cache(''), await cache('guides/errors.html')]).toEqual(['no-cache', 'no-cache']);
    const { headers } = await fetch(`${address}guides/errors.html`);
    const again = await fetch(`${address}guides/errors.html`, {
      // Without the second header, fetch asks for a fresh answer.
      headers: { 'if-none-match': headers.get('etag') ?? '', 'cache-control': 'max-age=0' },
    });
    expect(again.status).toBe(304);
  });

  it.each(['assets/none.js', '..%2fpackage.json', '%2e%2e/package.json', 'guides', 'x%00.js'])(
    'nothing at %s, and it is not cached',
    async (path) => {
      const response = await fetch(address + path);
      expect(response.status).toBe(404);
      expect(response.headers.get('cache-control') ?? '').not.toContain('immutable');
    },
  );

  it.each(['guide', 'guides/none', 'guides/none/errors.html'])(
    'for people a page with menu and search at %s',
    async (path) => {
      const response = await fetch(address + path, { headers: { accept: 'text/html,*/*;q=0.8' } });
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const links = [...(await response.text()).matchAll(/ (?:href|src)="([^"#]+)/g)].map(
        ([, link = '']) => new URL(link, address + path).href,
      );
      expect(links).toContain(`${address}guides/errors.html`);
      for (const link of links.filter((one) => one.includes('/assets/')))
        expect((await fetch(link)).status, link).toBe(200);
    },
  );

  it.each([
    ['guides/errors', 'guides/errors.html'],
    ['reference', 'reference.html'],
    ['guides/', ''],
  ])('at %s what is at %s', async (path, page) => {
    expect(await fetch(address + path)).toMatchObject({ status: 200, url: address + page });
  });

  it('the contract, llms.txt and llms-full.txt also at the root, from which their links lead', async () => {
    const get = (path: string) => fetch(new URL(path, address), { redirect: 'manual' });
    expect(parse(await (await get('/openapi.yaml')).text())).toEqual(published);
    for (const file of ['/llms.txt', '/llms-full.txt']) {
      const prose = (await (await get(file)).text()).replaceAll(/^```[\s\S]*?^```/gm, '');
      const links = [...prose.matchAll(/\]\((\/[^)]+)\)/g)].map(([, link = '']) => link);
      expect(links.length).toBeGreaterThan(15);
      const others = links.filter((link) => !/^\/(openapi\.json|console\/)/.test(link));
      for (const link of others.slice(0, 20)) expect((await get(link)).status, link).toBe(200);
    }
  });

  it.each([
    ['guides/errors.md', 'text/markdown; charset=utf-8'],
    ['openapi.yaml', 'application/yaml; charset=utf-8'],
    ['workflows/payments.arazzo.yaml', 'application/yaml; charset=utf-8'],
    ['llms.txt', 'text/plain; charset=utf-8'],
    ['', 'text/html; charset=utf-8'],
  ])('%s as %s', async (path, type) => {
    expect((await fetch(address + path)).headers.get('content-type')).toBe(type);
  });
});

if (!chromiumPath) console.warn(`test/tools/docs.test.ts: ${withoutChromium}`);

describe.skipIf(!chromiumPath)('the docs in a browser', () => {
  let browser: Browser;
  let diary: Diary;
  let page: Page;

  beforeAll(async () => {
    browser = await launch();
    page = await open('reference.html');
  });
  afterAll(async () => {
    await browser.close();
  });
  afterEach(() => {
    expect(diary).toEqual({ outside: [], complaints: [] });
  });

  async function open(path = '', options: BrowserContextOptions = {}, from = address): Promise<Page> {
    const opened = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...options });
    diary = await keepDiary(opened, (url) => url.href.startsWith(from));
    // The not-found page is visible only for a moment, so it is recorded as soon as it appears.
    await opened.addInitScript(`new MutationObserver(() => {
      if (document.body?.innerText.includes('No page at this address')) console.error('lost: ' + location.hash);
    }).observe(document, { childList: true, subtree: true })`);
    await opened.goto(from + path);
    return opened;
  }

  it.each(items)('shows $name in the one-page reference, marked in the menu', async ({ item }) => {
    const { path, isEvent, operation } = item;
    const scopes = (operation.security ?? []).flatMap(({ BearerAuth = [] }) => BearerAuth);
    const curl = `http://127.0.0.1:8080${path.split('{', 1)[0]}`;
    await visit(page, item, isEvent ? [`"${path}"`] : [curl, ...scopes]);
  });

  it('shows gift card items as objects, each kind with its properties', async () => {
    await visit(page, itemOf('checkGiftCardBalances'));
    const shown = () => page.locator('body').innerText();
    await expect.poll(shown).toMatch(/Array of objects/i);
    expect(await shown()).not.toMatch(/Array of any/i);
    await page.getByText('Not stored').first().waitFor();
    await page.getByText('Stored', { exact: true }).first().waitFor();
  });

  it('one search finds guides and reference, and goes right to a property', async () => {
    const reader = await open('guides/pages.html');
    await reader.keyboard.press('/');
    const results = reader.getByRole('dialog', { name: 'Search' }).getByRole('link');
    await reader.getByRole('searchbox').fill('signature');
    await results.filter({ hasText: 'Checking a signature' }).first().waitFor();
    expect(await results.locator('b').first().innerText()).toBe('signature');
    await reader.getByRole('searchbox').fill('qwertz');
    await reader.getByRole('status').getByText('Nothing found').waitFor();
    await reader.getByRole('searchbox').fill('external_identifier');
    await results.filter({ hasText: 'external_identifierStore a card' }).first().click();
    await reader.waitForURL(/reference\/create-payment-method\.html#body\.external_identifier$/);
    await expectInView(reader.locator('[id="body.external_identifier"]'));
  });

  it('opens what is folded for the search, for an anchor, for a link on the page, and on paper', async () => {
    const reader = await open('reference/create-payment-method.html');
    const [bin, pointer, code] = ['201.details.bin', '400-bad_request.details.pointer', '201.buyer.id'].map(
      (id) => reader.locator(`[id="${id}"]`),
    ) as [Locator, Locator, Locator];
    const shown = () => Promise.all([bin, pointer, code].map((one) => one.isVisible()));
    expect(await shown()).toEqual([false, false, false]);
    await reader.getByRole('navigation', { name: 'On this page' }).getByRole('link', { name: '400' }).click();
    await expect.poll(shown).toEqual([false, true, false]);
    await reader.keyboard.press('/');
    await reader.getByRole('searchbox').fill('card_issuer_name');
    const results = reader.getByRole('dialog').getByRole('listitem');
    await results.filter({ hasText: 'Store a card' }).first().click();
    await expect.poll(shown).toEqual([true, true, false]);
    await reader.goto('about:blank');
    await reader.goto(`${address}reference/create-payment-method.html#201.buyer.id`);
    await expectInView(code);
    expect(await shown()).toEqual([false, false, true]);
    await reader.emulateMedia({ media: 'print' });
    expect(await shown()).toEqual([true, true, true]);
  });

  it('pages of operations have at most 10,000 pixels, and nothing critical for axe', async () => {
    const reader = await open();
    for (const { item } of items) {
      await reader.goto(address + item.page);
      expect(await axe(reader, { impact: 'critical' }), item.page).toEqual([]);
      expect(await reader.evaluate('document.body.scrollHeight'), item.page).toBeLessThan(10_000);
    }
  });

  it('shows code in the language that the reader chose, at the next visit too', async () => {
    const reader = await open('guides/languages.html');
    const code = (language: string) => reader.locator(`pre[data-language=${language}]`).first();
    await code('python').waitFor();
    await reader.getByRole('button', { name: 'PHP' }).first().click();
    await code('php').waitFor();
    expect(await code('python').isVisible()).toBe(false);
    await reader.reload();
    await reader.getByRole('button', { name: 'PHP', pressed: true }).first().waitFor();
  });

  it('names the address of the sandbox that serves it, in guides and reference', async () => {
    const { origin } = new URL(sandboxAddress);
    const permissions = ['clipboard-read', 'clipboard-write'];
    const reader = await open('guides/pages.html', { permissions }, sandboxAddress);
    await reader.getByRole('button', { name: 'Copy' }).first().click();
    await reader.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await reader.evaluate('navigator.clipboard.readText()')).toContain(`'${origin}/transactions?`);
    await reader.keyboard.press('/');
    await reader.getByRole('searchbox').fill('127.0.0.1');
    await reader.getByRole('dialog').getByRole('link').first().waitFor();
    const found = await reader.getByRole('dialog').getByRole('list').innerText();
    expect(found).toContain(origin);
    expect(found).not.toContain('127.0.0.1:8080');
    await reader.goto(`${sandboxAddress}reference.html${hashOf('listTransactions')}`);
    await reader
      .locator('pre', { hasText: `${origin}/transactions?` })
      .first()
      .waitFor();
    expect(await reader.locator('#redoc').innerText()).not.toContain('127.0.0.1:8080');
    for (const path of ['', 'guides/getting-started.html']) {
      await reader.goto(sandboxAddress + path);
      const link = reader.getByRole('article').getByRole('link', { name: 'console', exact: true });
      expect(await link.getAttribute('href')).toBe(`${origin}/console/`);
    }
  });

  it('names the address of a sandbox behind a proxy, too, and links to no console there', async () => {
    const app = createExpress();
    serveDocs(app, site, { kind: 'sandbox', hasConsole: false });
    const hosted = createServer(app);
    try {
      const url = await listen(hosted);
      const reader = await open('guides/getting-started.html', {}, url);
      const article = reader.getByRole('article');
      await article
        .getByText(`${new URL(url).origin}/card-scheme-definitions`)
        .first()
        .waitFor();
      await article.getByText('has no console: ask whoever runs it').waitFor();
      expect(await article.getByRole('link', { name: 'console', exact: true }).count()).toBe(0);
      expect(await article.innerText()).not.toContain('127.0.0.1:8080');
    } finally {
      hosted.close();
    }
  });

  it('has dark colours where the system has them', async () => {
    const dark = await open('', { colorScheme: 'dark' });
    expect(await dark.locator('html').getAttribute('class')).toContain('dark');
  });

  it('has one layout for all operations, which cuts no sample where the window is 1280 pixels wide', async () => {
    const narrow = await open('', { viewport: { width: 1280, height: 900 } });
    const layouts = new Set<string>();
    for (const id of ['createPaymentMethod', 'listTransactions']) {
      await narrow.goto(`${address}reference.html${hashOf(id)}`);
      await narrow.locator('#redoc pre').first().waitFor();
      const cut = `[...document.querySelectorAll('#redoc pre')].filter((one) => one.scrollWidth > one.clientWidth).length`;
      expect(await narrow.evaluate(cut), id).toBe(0);
      const lefts = `['h2', '.panel-request-samples'].map((one) => document.querySelector('#redoc ' + one).getBoundingClientRect().x)`;
      layouts.add(String(await narrow.evaluate(lefts)));
    }
    expect([...layouts]).toHaveLength(1);
  });

  it.each([1440, 390])('cuts no code of a guide where the window is %d pixels wide', async (width) => {
    const reader = await open('', { viewport: { width, height: 900 } });
    for (const guide of [
      'index',
      'guides/getting-started',
      'guides/authentication',
      'guides/pages',
      'guides/webhooks',
      'guides/languages',
      'reference/create-webhook-subscription',
    ]) {
      await reader.goto(`${address}${guide}.html`);
      const cut = `[...document.querySelectorAll('.guide pre')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.innerText)`;
      expect(await reader.evaluate(cut), guide).toEqual([]);
    }
  });

  it('fits a phone: the menu opens, links land on content, and nothing covers it', async () => {
    const phone = await open('', { viewport: { width: 375, height: 800 }, hasTouch: true });
    await phone.getByRole('button', { name: 'Menu' }).tap();
    await phone.getByRole('link', { name: 'List transactions' }).tap();
    await expectAtTop(phone, 'List transactions');
    await phone.goto(`${address}guides/errors.html`);
    const headingOf = `getComputedStyle(document.querySelector('tr:has(code) td:nth-child(2)'), '::before').content`;
    expect(await phone.evaluate(headingOf)).toContain('code');
    for (const path of [
      'guides/errors.html',
      'guides/client.html',
      'reference/list-transactions.html',
      `reference.html${hashOf('createPaymentMethod')}`,
      `reference.html${hashOf('onTransactionCreated')}`,
    ]) {
      await phone.goto(address + path);
      await phone.locator('#content :is(h1, h2)').first().waitFor();
      expect(await phone.evaluate('document.documentElement.scrollWidth'), path).toBe(375);
      const above = `[...document.querySelectorAll('body *')].filter((element) =>
        getComputedStyle(element).position === 'fixed' && element.checkVisibility()).map((element) => element.outerHTML)`;
      expect(await phone.evaluate(above), path).toEqual([]);
    }
    await phone.goto('about:blank');
    await phone.goto(`${address}reference.html${hashOf('createPaymentMethod')}`);
    await expectAtTop(phone, 'Store a card');
  });

  it('shows an operation that the address names at once, not the overview before it', async () => {
    const reader = await open();
    await reader.addInitScript(`window.headings = new Set();
      const look = () => {
        for (const one of document.querySelectorAll('#redoc :is(h1, h2)'))
          if (one.checkVisibility({ visibilityProperty: true }) && one.textContent.trim()) headings.add(one.textContent.trim());
        requestAnimationFrame(look);
      };
      look();`);
    await reader.goto(`${address}reference.html${hashOf('listTransactions')}`);
    await expectAtTop(reader, 'List transactions');
    const seen = await reader.evaluate<string[]>('[...headings]');
    expect(seen[0]).toContain('List transactions');
    expect(seen.join()).not.toContain(contract.info.title);
  });

  it('works as a file', async () => {
    const file = await open('guides/webhooks.html', {}, `file://${site}/`);
    await expectAtTop(file, 'Webhooks');
    await file.getByRole('button', { name: 'Search' }).click();
    await file.getByRole('searchbox').fill('listTransactions');
    await file.getByRole('dialog').getByRole('link', { name: 'List transactions' }).first().click();
    await expectAtTop(file, 'List transactions');
  });
});

function itemOf(operationId: string): Item {
  const { item } = items.find(({ name }) => name === operationId) ?? {};
  if (!item) throw new Error(`The contract has no ${operationId}.`);
  return item;
}

const hashOf = (operationId: string) => itemOf(operationId).href.replace('reference.html', '');

/**
 * Redoc draws an operation for up to two seconds of CPU, and each question to the page waits for that. So everything is asked at once.
 */
async function visit(page: Page, { operation, href }: Item, texts: string[] = []): Promise<void> {
  await page.evaluate(`location.hash = '${href.replace('reference.html', '')}'`);
  const lacking = `(({ summary, texts }) => {
    const heading = [...document.querySelectorAll('#content h2')].find((one) => one.textContent.includes(summary));
    const top = heading?.getBoundingClientRect().top ?? -1;
    const current = [...document.querySelectorAll('#menu [aria-current]')].map((one) => one.textContent);
    const shown = document.querySelector('#content').innerText;
    return [
      ...(top >= 50 && top < 250 ? [] : ['heading at ' + top]),
      ...(current.length === 1 && current[0].includes(summary) ? [] : ['marked is ' + current]),
      ...texts.filter((text) => !shown.includes(text)),
    ];
  })(${JSON.stringify({ summary: operation.summary, texts })})`;
  await expect.poll(() => page.evaluate(lacking)).toEqual([]);
}

/** Below our bar, which has 56 pixels. */
const expectAtTop = (page: Page, heading: string) =>
  expect
    .poll(() => topOf(page.locator('#content').getByRole('heading', { name: heading }).first()))
    .toSatisfy((top: number) => top >= 50 && top < 250);

const expectInView = (element: Locator) =>
  expect.poll(() => topOf(element)).toSatisfy((top: number) => top >= 50 && top < 700);

const topOf = async (element: Locator) =>
  (await element.boundingBox({ timeout: 5_000 }).catch(() => null))?.y ?? -1;
