// The documentation as a reader meets it: built, served under a path of its own, and opened in a real browser.
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
const lost = 'No page at this address';

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
  let diary: Diary | undefined;

  beforeAll(async () => {
    server = await serve(site);
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/docs/`;
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    server.close();
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    expect(diary).toEqual({ outside: [], complaints: [] });
  });

  async function open(hash = '', options: BrowserContextOptions = {}, from = address): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...options });
    diary = await keepDiary(page, (url) => url.href.startsWith(from));
    await page.goto(from + hash);
    return page;
  }

  it('has our title, logo, language and description', async () => {
    const page = await open();
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
    const page = await open();
    const href = await page.getByRole('link', { name: 'Download this contract' }).getAttribute('href');
    const answer = await page.request.get(new URL(href ?? '', address).href);
    expect(await answer.text()).toBe(text);
  });

  it('finds external_identifier and goes to the result', async () => {
    const page = await open();
    await page.getByText('Search', { exact: false }).first().click();
    await page.getByPlaceholder('Search docs').fill('external_identifier');
    await page.getByRole('link', { name: 'Store a card' }).click();
    await page.waitForURL(/#\/payment-methods\/createpaymentmethod#.*path=external_identifier/);
    // It goes right to the property, not only to the operation.
    await expectInView(page.locator('.schema-name', { hasText: /^external_identifier$/ }));
  });

  it('goes straight to the operation of a deep link', async () => {
    const page = await browser.newPage();
    await page.addInitScript(`new MutationObserver(() => {
      if (document.body?.innerText.includes('${lost}')) window.wasLost = true;
    }).observe(document, { childList: true, subtree: true })`);
    diary = await keepDiary(page, (url) => url.href.startsWith(address));
    await page.goto(`${address}#operation/listTransactions`);
    await expectAtTop(page, 'List transactions');
    expect(await page.evaluate('window.wasLost')).toBeUndefined();
  });

  it('resolves every link of the contract', async () => {
    const links = new Set([...text.matchAll(/\]\((#[^)]+)\)/g)].map(([, link = '']) => link));
    for (const { name } of contract.tags) links.add(`#tag/${name.replaceAll(' ', '-')}`);
    const page = await open();
    for (const link of links) {
      await page.evaluate(`location.hash = '${link}'`);
      await expectAtTop(page, targetOf(link));
    }
  });

  it('shows every operation with its summary, its scope and an answer', async () => {
    expect(operations).toHaveLength(7);
    const page = await open();
    for (const { operationId, summary, security = [] } of operations) {
      await page.evaluate(`location.hash = '#operation/${operationId}'`);
      await expectAtTop(page, summary);
      for (const scope of security.flatMap(({ BearerAuth = [] }) => BearerAuth))
        await page.getByText(scope, { exact: true }).first().waitFor();
    }
  });

  it('shows every webhook with its summary and its payload', async () => {
    expect(webhooks).toHaveLength(4);
    const page = await open();
    for (const { operationId, summary } of webhooks) {
      await page.evaluate(`location.hash = '#operation/${operationId}'`);
      await expectAtTop(page, summary);
    }
    await page.getByText('"transaction.updated"').first().waitFor();
  });

  it('shows a curl command where there is no body', async () => {
    const page = await open('#operation/listTransactions');
    await page.getByText(`'http://127.0.0.1:8080/transactions'`).waitFor();
  });

  it('switches between the named examples', async () => {
    const page = await open('#operation/createPaymentMethod');
    await page.getByText('"4111111111111111"').waitFor();
    await page.getByRole('button', { name: 'Example' }).first().click();
    await page.getByRole('menuitem', { name: 'A card that the buyer must approve' }).click();
    await page.getByText('"5105105105105100"').waitFor();
  });

  it('fits a phone, and the menu opens there', async () => {
    const page = await open('', { viewport: { width: 375, height: 800 }, hasTouch: true });
    await page.getByRole('button', { name: 'Open navigation menu' }).tap();
    await page.getByText('Payment methods', { exact: true }).first().tap();
    await expectAtTop(page, 'Payment methods');
    for (const link of [
      '#section/Errors',
      '#operation/createPaymentMethod',
      '#operation/onTransactionCreated',
    ]) {
      await page.evaluate(`location.hash = '${link}'`);
      await expectAtTop(page, targetOf(link));
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375);
    }
  });

  it.each(['light', 'dark'] as const)('is readable in the %s mode (WCAG AA)', async (colorScheme) => {
    const page = await open('#operation/createPaymentMethod', { colorScheme });
    await expectAtTop(page, 'Store a card');
    expect(await faintTexts(page)).toEqual([]);
  });

  it('works as a file', async () => {
    const page = await open('index.html#section/Webhooks', {}, `file://${site}/`);
    await expectAtTop(page, 'Webhooks');
  });
});

/** The heading that a link promises. */
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
    .poll(async () => (await found.isVisible()) && (await found.boundingBox())?.y, { timeout: 10_000 })
    .toSatisfy((y) => typeof y === 'number' && y >= 0 && y < lowest, `${found.toString()} in view`);
}

/** As the server does: the site under /docs/, and nothing else. */
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
