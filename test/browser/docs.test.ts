// Builds the documentation, serves it under its own path and opens it in a real browser.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, type Locator, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildDocs } from '../../scripts/docs.ts';
import { brokenLinks } from '../../scripts/docs/links.ts';
import { parseContract } from '../../scripts/docs/contract.ts';
import { proveSelfContained } from '../../scripts/docs/page.ts';
import {
  chromiumPath,
  faintTexts,
  keepDiary,
  launch,
  withoutChromium,
  type Diary,
} from '../support/browser.ts';

const site = mkdtempSync(join(tmpdir(), 'payments-docs-test-'));
const text = readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8');
const contract = parseContract(text);
const listed = [contract.paths, contract.webhooks].map((items) =>
  Object.values(items).flatMap((item) => Object.values(item)),
);
const [operations = [], webhooks = []] = listed;

let html: string;

beforeAll(async () => {
  html = readFileSync((await buildDocs({ out: site })).file, 'utf8');
});
afterAll(() => {
  rmSync(site, { recursive: true, force: true });
});

describe('the built page', () => {
  it('has the same bytes when it is built again', async () => {
    const again = await buildDocs({ out: join(site, 'again') });
    expect(readFileSync(again.file, 'utf8') === html).toBe(true);
  });

  it('comes with the contract exactly as it was generated', () => {
    expect(readFileSync(join(site, 'openapi.json'), 'utf8') === text).toBe(true);
  });

  it.each([
    ['an image', '<img src="https://cdn.example/logo.svg">', /would load.*cdn\.example/],
    ['a font', '<style>@font-face{src:url(https://fonts.example/a.woff)}</style>', /would load/],
    ['a host that nobody has looked at', '<script>fetch("https://beacon.test")</script>', /beacon\.test/],
  ])('is refused if it names %s', (_, added, message) => {
    expect(() => {
      proveSelfContained(
        html.replace('</head>', () => `${added}</head>`),
        text,
      );
    }).toThrow(message);
  });

  it('is refused if a link of the contract leads nowhere', () => {
    const spoilt = text.replaceAll('#section/Rate-limits', '#section/Rate-limit');
    expect(brokenLinks(contract, spoilt, html)).toEqual(['#section/Rate-limit']);
    expect(brokenLinks(contract, text, html)).toEqual([]);
  });
});

if (!chromiumPath) console.warn(`test/browser/docs.test.ts: ${withoutChromium}`);

describe.skipIf(!chromiumPath)('the page in a browser', () => {
  let server: Server;
  let browser: Browser;
  let address: string;
  let diary: Diary;
  let page: Page;

  beforeAll(async () => {
    server = await serve(site);
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/docs/`;
    browser = await launch();
    page = await open();
  });
  afterAll(async () => {
    await browser.close();
    server.close();
  });
  afterEach(() => {
    expect(diary).toEqual({ outside: [], complaints: [] });
  });

  async function open(hash = '', options: BrowserContextOptions = {}, from = address): Promise<Page> {
    const opened = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...options });
    diary = await keepDiary(opened, (url) => url.href.startsWith(from));
    // The not-found page is visible only for a moment, so it is recorded as soon as it appears.
    await opened.addInitScript(`new MutationObserver(() => {
      if (document.body?.innerText.includes('No page at this address')) console.error('lost: ' + location.hash);
    }).observe(document, { childList: true, subtree: true })`);
    await opened.goto(from + hash);
    return opened;
  }

  it('has our title, logo, language and description', async () => {
    expect(await page.title()).toBe('Payments Service API');
    const logo = page.getByRole('img', { name: 'Payments Service API' });
    expect(await logo.getAttribute('src')).toMatch(/^data:image/);
    expect(
      await page.evaluate(`document.querySelector('[data-testid=logo] img').naturalWidth`),
    ).toBeGreaterThan(0);
    expect(await page.locator('html').getAttribute('lang')).toBe('en');
    expect(await page.locator('meta[name=description]').getAttribute('content')).toContain('Store cards');
  });

  it('offers the contract for download', async () => {
    const href = await page.getByRole('link', { name: 'Download this contract' }).getAttribute('href');
    const answer = await page.request.get(new URL(href ?? '', address).href);
    expect((await answer.text()) === text).toBe(true);
  });

  it('resolves every link of the contract', async () => {
    const links = new Set([...text.matchAll(/\]\((#[^)]+)\)/g)].map(([, link = '']) => link));
    for (const { name } of contract.tags) links.add(`#tag/${name.replaceAll(' ', '-')}`);
    for (const link of links) await visit(page, link);
  });

  it('shows every operation with its summary and its scopes, every webhook with its payload', async () => {
    expect([operations.length, webhooks.length]).toEqual([7, 4]);
    for (const { operationId, security = [] } of operations) {
      await visit(page, `#operation/${operationId}`);
      for (const scope of security.flatMap(({ BearerAuth = [] }) => BearerAuth))
        await page.getByText(scope, { exact: true }).first().waitFor();
    }
    for (const [event, { post }] of Object.entries(contract.webhooks)) {
      await visit(page, `#operation/${post?.operationId}`);
      await page.getByText(`"${event}"`).first().waitFor();
    }
  });

  it('shows a curl command where there is no body, and elsewhere examples to choose from', async () => {
    await visit(page, '#operation/listTransactions');
    await page.getByText(`'http://127.0.0.1:8080/transactions'`).waitFor();
    await visit(page, '#operation/createPaymentMethod');
    await page.getByText('"4111111111111111"', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Example' }).filter({ hasText: 'A Visa card' }).first().click();
    await page.getByRole('menuitem', { name: 'A card that the buyer must approve' }).click();
    await page.getByText('"5105105105105100"').waitFor();
  });

  it('shows gift card items as objects, each kind with its properties', async () => {
    await visit(page, '#operation/checkGiftCardBalances');
    const shown = () => page.locator('body').innerText();
    await expect.poll(shown).toMatch(/Array of objects/i);
    expect(await shown()).not.toMatch(/Array of any/i);
    await page.getByText('Not stored').first().waitFor();
    await page.getByText('Stored', { exact: true }).first().waitFor();
  });

  it('finds external_identifier and goes right to that property', async () => {
    await visit(page, '#section/Pages');
    await page.getByTestId('search-trigger').click();
    await page.getByPlaceholder('Search docs').fill('external_identifier');
    // The text of the page has links with this name too.
    const results = page.getByRole('link', { name: 'Store a card' });
    await results.filter({ hasText: 'external_identifier' }).click();
    await page.waitForURL(/#\/payment-methods\/createpaymentmethod#.*path=external_identifier/);
    await expectInView(
      page.locator('[id="payment-methods/createpaymentmethod/t=request&path=external_identifier"]'),
    );
  });

  it('goes straight to the operation of a deep link, and is readable in dark colours too (WCAG AA)', async () => {
    expect(await faintTexts(page)).toEqual([]);
    const dark = await open('#operation/listTransactions', { colorScheme: 'dark' });
    await expectAtTop(dark, 'List transactions');
    expect(await dark.locator('html').getAttribute('class')).toContain('dark');
    expect(await faintTexts(dark)).toEqual([]);
  });

  it('fits a phone, and the menu opens there', async () => {
    const phone = await open('', { viewport: { width: 375, height: 800 }, hasTouch: true });
    await phone.getByRole('button', { name: 'Open navigation menu' }).tap();
    await phone.getByText('Payment methods', { exact: true }).first().tap();
    await expectAtTop(phone, 'Payment methods');
    for (const link of [
      '#section/Errors',
      '#operation/createPaymentMethod',
      '#operation/onTransactionCreated',
    ]) {
      await visit(phone, link);
      expect(await phone.evaluate('document.documentElement.scrollWidth')).toBe(375);
    }
  });

  it('works as a file', async () => {
    const file = await open('index.html#section/Webhooks', {}, `file://${site}/`);
    await expectAtTop(file, 'Webhooks');
  });
});

async function visit(page: Page, link: string): Promise<void> {
  await page.evaluate(`location.hash = '${link}'`);
  await expectAtTop(page, targetOf(link));
}

/** The text of the heading that a link points to. */
function targetOf(link: string): string {
  const [kind, ...rest] = link.slice(1).split('/');
  const name = rest.at(-1) ?? '';
  if (kind !== 'operation') return name.replaceAll('-', ' ');
  return [...operations, ...webhooks].find(({ operationId }) => operationId === name)?.summary ?? link;
}

const expectAtTop = (page: Page, heading: string) =>
  expectInView(page.getByRole('heading', { name: heading }).first(), 200);

async function expectInView(found: Locator, lowest = 900): Promise<void> {
  await expect
    .poll(async () => (await found.isVisible()) && (await found.boundingBox())?.y, { timeout: 20_000 })
    .toSatisfy((y) => typeof y === 'number' && y >= 0 && y < lowest, `${found.toString()} in view`);
}

/** Serves the site under /docs/ and nothing else, like the server. */
async function serve(folder: string): Promise<Server> {
  const server = createServer((request, response) => {
    const file = { '/docs/': 'index.html', '/docs/openapi.json': 'openapi.json' }[request.url ?? ''];
    if (!file) return response.writeHead(404).end();
    const type = file.endsWith('.html') ? 'text/html' : 'application/json';
    return response.writeHead(200, { 'content-type': type }).end(readFileSync(join(folder, file)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
