// The sandbox's landing page and console in a real browser, and a hostile page that tries to use them.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMock } from '../../mock/mock.ts';
import { itemsOf, parseContract } from '../../scripts/docs/contract.ts';
import { root } from '../../scripts/support/root.ts';
import { axe, chromiumPath, keepDiary, launch, withoutChromium, type Diary } from '../support/browser.ts';
import { allCases, shareOf } from '../support/random.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { patient, storeCard, subscribe } from '../support/webhooks.ts';

if (!chromiumPath) console.warn(withoutChromium);

describe.skipIf(!chromiumPath)("the sandbox's pages", () => {
  /** Built by test/support/global.ts. */
  const [siteDir, pagesDir] = [join(root, 'site'), join(root, 'pages')];
  let service: TestService;
  let browser: Browser;

  beforeAll(async () => {
    service = await startTestService({ siteDir, pagesDir, webhooks: patient });
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    await service[Symbol.asyncDispose]();
  });

  interface Visit {
    url?: string;
    options?: BrowserContextOptions;
  }

  /** Requests to other hosts, and complaints of the browser such as a violated policy, fail the test. */
  async function visit(
    path: string,
    look: (page: Page, diary: Diary) => Promise<void>,
    { url = service.url, options = {} }: Visit = {},
  ) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    const diary = await keepDiary(page, ({ origin }) => origin === new URL(url).origin);
    await page.goto(url + path);
    await look(page, diary);
    expect(diary).toEqual({ outside: [], complaints: [] });
    await context.close();
  }

  const lists = (page: Page) => ({
    requests: page.locator('#happened > .request'),
    events: page.locator('#happened > .event'),
  });

  it('the landing page shows what to press, and then request, response and event', async () => {
    await using fresh = await startTestService({ siteDir, pagesDir });
    const press = async (page: Page, name: string, ...expected: string[]) => {
      await page.getByRole('button', { name }).focus();
      await page.keyboard.press('Enter');
      for (const text of expected)
        await page.getByRole('region', { name: 'Request and response' }).getByText(text).waitFor();
    };
    await visit(
      '/',
      async (page) => {
        const { requests, events } = lists(page);
        await page.getByText('Live:').waitFor();
        expect(await page.getByRole('region', { name: 'Requests and events' }).isVisible()).toBe(false);
        await press(page, 'List transactions', "-X GET '", '/transactions?limit=3', '200 OK');
        await press(page, 'Store a test card', '"number": "4111111111111111"', '201 Created');
        // A request without a body has a query.
        await requests.filter({ hasText: '/transactions' }).locator('summary').click();
        await requests.getByText('limit=3', { exact: true }).waitFor();
        // The event stands right below the request that caused it.
        const first = page.locator('#happened > li').first();
        await first.getByText('/payment-methods').click();
        await first
          .locator('xpath=following-sibling::li[1]/details/summary')
          .getByText('payment-method.created')
          .waitFor();
        const requestId = await first.locator('dd code').first().innerText();
        expect(await page.locator('#received').innerText()).toContain(`x-request-id: ${requestId}\n`);
        await page.getByRole('region', { name: 'Request and response' }).getByRole('button').first().click();
        await page.getByRole('button', { name: 'Copied' }).waitFor();
        const command = await page.evaluate<string>('navigator.clipboard.readText()');
        const shown = await page.locator('#sent').innerText();
        expect(command.replace(/Bearer [^']+/, 'Bearer …')).toBe(shown);
        expect(await page.content()).not.toMatch(/eyJ/);
        // It runs: with its Idempotency-Key, the response is that of the button.
        const { stdout } = await promisify(execFile)('sh', ['-c', command]);
        expect(await page.locator('#received').innerText()).toContain(
          `"id": "${(JSON.parse(stdout) as { id: string }).id}"`,
        );
        await events.locator('summary').click();
        await events.getByText('"name": "payment-method.created"').waitFor();
        expect(await axe(page)).toEqual([]);
        await requests.getByRole('link', { name: 'createPaymentMethod' }).first().click();
        await page.getByRole('heading', { name: 'Store a card' }).waitFor();
        await page.getByRole('link', { name: 'Home', exact: true }).first().click();
        await page.waitForURL(`${fresh.url}/`);
        await page.getByRole('link', { name: 'Contract', exact: true }).click();
        await page.getByText('OpenAPI 3.1, version').waitFor();
      },
      { url: fresh.url, options: { permissions: ['clipboard-read', 'clipboard-write'] } },
    );
  });

  it('the landing page shows requests as they come, and sends an event again by keyboard', async () => {
    let held: ((status: number) => void) | undefined;
    // The answer to the second delivery waits until the page has shown that it is under way.
    await using receiver = await startReceiver((res, _got, nth) => {
      const answer = (status: number) => res.writeHead(status, { 'retry-after': '3600' }).end('no room');
      if (nth === 2) held = answer;
      else answer(204);
    });
    await subscribe(service, receiver.url);
    const { host } = new URL(receiver.url);
    await visit('/', async (page) => {
      const { requests, events } = lists(page);
      await page.getByText('Live:').waitFor();
      await fetch(`${service.url}/transactions`);
      const refused = requests.filter({ hasText: '401 unauthorized' }).first();
      await refused.locator('summary').click();
      await refused.getByText('no bearer token').waitFor();
      await storeCard(service);
      const row = events.filter({ hasText: host });
      await row.getByText('delivered to 1 of 1').waitFor();
      await row.locator('summary').focus();
      await page.keyboard.press('Enter');
      await row.getByText(/^127\.0\.0\.1:\d+ …[0-9a-f]{6}: succeeded: HTTP 204$/).waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByText('is sent again').waitFor();
      await receiver.received(2);
      await row.getByText(/: attempt 1 succeeded: HTTP 204; being sent$/).waitFor();
      held?.(500);
      await row.getByText(/: attempt 2 failed: HTTP 500; next at \d/).waitFor();
      await row.getByText('It answered: no room').waitFor();
      // Though the row was written anew.
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Send again');
      // A server that was started again counts from 1. The page then asks for everything.
      await page.route(/feed\?after=[1-9]/, async (route) => {
        const feed = (await (await route.fetch()).json()) as object;
        await route.fulfill({ json: { ...feed, requests: [], last: 0 } });
      });
      await page.waitForRequest(/feed\?after=0$/);
    });
    expect(receiver.got.map(({ headers }) => headers['webhook-id'])[1]).toBe(
      receiver.got[0]?.headers['webhook-id'],
    );
  });

  it('the landing page fits a phone, where it has no faults for axe, whatever was requested', async () => {
    await fetch(`${service.url}/<img src=x onerror=alert(1)>`);
    await visit('/', async (page) => {
      await page.setViewportSize({ width: 375, height: 800 });
      await page.getByRole('button', { name: 'Store a test card' }).click();
      await page.getByText('201 Created').waitFor();
      const refused = lists(page).requests.filter({ hasText: '404 not_found' }).first();
      await refused.locator('summary').click();
      await refused.getByText('unknown path').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375);
      expect(await axe(page)).toEqual([]);
    });
  });

  it('the approval page has the same clothes, fits a phone, and is without faults for axe', async () => {
    const { body } = await service.call('POST', '/payment-methods', {
      token: service.token('payment-methods.write'),
      body: { method: 'card', number: '5105105105105100', expiration_date: '12/39' },
    });
    const path = new URL((body as { approval_url: string }).approval_url).pathname;
    const looks = (page: Page, button: string) =>
      page.evaluate(`(({ color, backgroundColor, borderRadius, padding, fontWeight }) =>
        [color, backgroundColor, borderRadius, padding, fontWeight])(getComputedStyle(document.querySelector("${button}")))`);
    await visit(path, async (page) => {
      expect(await axe(page)).toEqual([]);
      await page.setViewportSize({ width: 320, height: 568 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await axe(page, { only: ['color-contrast'] })).toEqual([]);
    });
    for (const colorScheme of ['light', 'dark'] as const) {
      let ours: unknown;
      const options = { colorScheme };
      const landing = async (page: Page) => {
        ours = await looks(page, '.actions button');
      };
      await visit('/', landing, { options });
      await visit(
        path,
        async (page) => {
          expect(await looks(page, 'button[value=approve]')).toEqual(ours);
        },
        { options },
      );
    }
  });

  const contract = parseContract(readFileSync(join(root, 'generated/openapi.json'), 'utf8'));
  const operations = itemsOf(contract).filter(({ isEvent }) => !isEvent);

  const client = (page: Page) => page.locator('.scalar-client');
  const send = (page: Page) => client(page).getByRole('button', { name: /^Send (get|post) request/ });

  const call = async (page: Page, status: string) => {
    await send(page).click();
    await client(page).getByText(status).first().waitFor();
  };

  // Rules that Scalar's form breaks: copy buttons name what they control before it is there, there are two regions for notifications, and
  // a main beside ours, which is looked at while no form is open.
  const ofScalar = ['aria-valid-attr-value', 'landmark-unique', 'landmark-no-duplicate-main'];
  const pages = [
    { path: '/', kilobytes: 80 },
    { path: '/docs/', kilobytes: 80 },
    { path: '/docs/guides/authentication.html', kilobytes: 80 },
    { path: '/docs/guides/errors.html', kilobytes: 80 },
    { path: '/docs/reference/list-transactions.html', kilobytes: 110 },
    { path: '/docs/reference/on-payment-method-created.html', kilobytes: 90 },
    { path: '/docs/reference.html#/transactions/listtransactions', kilobytes: 870 },
    { path: '/docs/reference.html#/payment-methods/createpaymentmethod', kilobytes: 870 },
  ];
  const judge = async (
    page: Page,
    { kilobytes, ...options }: { kilobytes: number; theirs?: string[]; without?: string[] },
  ) => {
    const weight = `performance.getEntries().reduce((sum, { transferSize = 0 }) => sum + transferSize, 0)`;
    expect((await page.evaluate<number>(weight)) / 1_000).toBeLessThan(kilobytes);
    expect(await axe(page, options)).toEqual([]);
    // By its script, because the open client of the console covers it.
    await page.evaluate(`document.querySelector('.theme-button').click()`);
    await page.locator('html.dark').waitFor();
    expect(await axe(page, { ...options, only: ['color-contrast'] })).toEqual([]);
  };

  it.each(shareOf(pages))(
    '$path weighs at most $kilobytes kB, has no faults for axe, and is readable in dark colours',
    async (one) => {
      await visit(one.path, async (page) => {
        await page.locator('#content h2').first().waitFor();
        await judge(page, one);
      });
    },
  );

  // One test, because the console takes long to load.
  it('so does the console, which has every operation, ready to send with a token and examples', async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const copyToken = async (page: Page) => {
      await page.getByRole('button', { name: 'Copy export TOKEN=' }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      return page.evaluate<string>('navigator.clipboard.readText()');
    };
    const close = async (page: Page) => {
      await page.getByRole('button', { name: 'Close Client' }).click();
      await client(page).getByRole('button', { name: 'Close Client' }).waitFor({ state: 'hidden' });
    };
    const look = async (page: Page) => {
      // The operation with most parameters: its button and its response are in sight.
      await send(page).waitFor();
      const yOf = async (element: Locator) => (await element.boundingBox())?.y ?? Infinity;
      expect(await yOf(send(page))).toBeLessThan(200);
      await client(page).getByText('Response').first().waitFor();
      const empty = `getComputedStyle(document.querySelector('.ascii-art').parentElement, '::after').content`;
      expect(await page.evaluate(empty)).toContain('Press Send');
      await client(page).getByRole('checkbox', { name: 'Send limit' }).waitFor();
      await client(page).getByRole('textbox', { name: 'Value of limit' }).waitFor();
      await call(page, '200 OK');
      expect(await yOf(client(page).getByText('200 OK').first())).toBeLessThan(300);
      await judge(page, { kilobytes: 1_320, theirs: ofScalar, without: ['#content'] });
      // The open client covers neither the header nor the token.
      await page.getByRole('link', { name: 'Docs', exact: true }).click({ trial: true });
      await page.getByRole('button', { name: 'Copy export TOKEN=' }).click({ trial: true });
      await close(page);
      expect(await axe(page)).toEqual([]);
      const copied = await copyToken(page);
      expect(copied).toMatch(/^export TOKEN=[\w.-]{50,}$/);
      // The token is in no address, no cookie and no storage.
      const kept =
        'location.href + document.cookie + JSON.stringify([{ ...localStorage }, { ...sessionStorage }])';
      expect(await page.evaluate(kept)).not.toContain(copied.slice('export TOKEN='.length));

      await page.goto(`${service.url}/console/#checkGiftCardBalances`);
      await page.reload();
      await page.getByText('Calls carry a token').waitFor();
      await call(page, '200 OK');
      await client(page).getByText('"balance"').first().waitFor();
      await client(page).getByRole('button', { name: 'Code Snippet' }).click();
      await client(page).getByText('curl').first().waitFor();
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await copyToken(page)).not.toBe(copied);
      await close(page);
      await page.setViewportSize({ width: 375, height: 800 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375);
      // On one line, and whole.
      const box = await page.getByRole('button', { name: 'Copy export TOKEN=' }).boundingBox();
      expect(box?.height).toBeLessThan(40);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(375);
      // An address without an operation opens none.
      await page.goto('about:blank');
      await page.goto(`${service.url}/console/`);
      await page.getByText('Calls carry a token').waitFor();
      await page.locator('.show-api-client-button').first().waitFor({ state: 'attached' });
      expect(await client(page).getByRole('button', { name: 'Close Client' }).isVisible()).toBe(false);
      // Scalar draws nothing but the form, with which the page becomes no longer.
      expect(await page.locator('#console').innerText()).toBe('');
    };
    await visit('/console/#listTransactions', look, { options: { permissions } });
  }, 240_000);

  it('the console lists all operations before Scalar is loaded, and then opens the one that was chosen', async () => {
    await visit('/', async (page) => {
      let load: () => void = () => undefined;
      const loaded = new Promise<void>((resolve) => (load = resolve));
      await page.route(/\/assets\/scalar\./, async (route) => {
        await loaded;
        await route.continue();
      });
      await page.goto(`${service.url}/console/`, { waitUntil: 'commit' });
      for (const { operation } of operations)
        await page.getByRole('button', { name: operation.summary }).waitFor();
      await page.getByRole('button', { name: 'Copy export TOKEN=' }).waitFor();
      expect(await axe(page)).toEqual([]);
      await page.getByRole('button', { name: 'List card schemes' }).click();
      await page.getByText('Opening …').waitFor();
      load();
      await call(page, '200 OK');
      expect(await page.getByText('Opening …').isVisible()).toBe(false);
    });
  });

  // It takes long.
  if (allCases)
    it('no page has a critical fault for axe, on a screen and on a phone', async () => {
      const docs = readdirSync(siteDir, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.html'))
        .map((file) => `/docs/${file}`);
      expect(docs.length).toBeGreaterThan(25);
      const found: string[] = [];
      const look = async (page: Page, path: string, width: number) => {
        const faults = () => axe(page, { impact: 'critical' });
        await expect
          .poll(faults, { timeout: 10_000 })
          .toEqual([])
          .catch(async () => {
            found.push(...(await faults()).map((fault) => `${path} (${width}): ${fault}`));
          });
      };
      const [wide, narrow] = [
        { width: 1280, height: 844 },
        { width: 390, height: 844 },
      ] as const;
      // Only these two are drawn by scripts, which may draw something else on a phone.
      const isDrawn = (path: string) => /^\/(console|docs\/reference\.html)/.test(path);
      for (const path of [
        ...docs,
        '/',
        '/console/',
        '/console/#listTransactions',
        '/console/#createPaymentMethod',
      ])
        for (const viewport of isDrawn(path) ? [wide, narrow] : [wide])
          await visit(
            path,
            async (page) => {
              await page.locator('#content').waitFor();
              if (path.startsWith('/console'))
                await page.locator('.show-api-client-button').first().waitFor({ state: 'attached' });
              if (path.startsWith('/console/#')) await send(page).waitFor();
              await look(page, path, viewport.width);
              if (isDrawn(path)) return;
              await page.setViewportSize(narrow);
              await look(page, path, narrow.width);
            },
            { options: { viewport } },
          );
      expect(found).toEqual([]);
    }, 900_000);

  it('the console calls the mock too', async () => {
    const mock = await startMock({ port: 0, siteDir, pagesDir });
    try {
      await visit(
        '/console/#createPaymentMethod',
        async (page) => {
          await page.getByText('Calls carry a token').waitFor();
          await call(page, '201 Created');
        },
        { url: mock.url },
      );
      await visit(
        '/',
        async (page) => {
          await page.getByRole('heading', { name: /^Mock/ }).waitFor();
          expect(await page.title()).toBe('Mock · Payments Service API');
          await lists(page).requests.getByText('/payment-methods').first().waitFor();
          await page.getByLabel('Operation').selectOption('listTransactions');
          await page.getByRole('combobox', { name: 'Answer' }).selectOption('200 none_found');
          await page.getByRole('button', { name: 'For the next request' }).click();
          await page.getByText('listTransactions: code=200, example=none_found, once').waitFor();
          const received = page.locator('#received');
          await page.getByRole('button', { name: 'List transactions' }).click();
          await received.getByText('"items": []').waitFor();
          await page.getByRole('button', { name: 'Until reset' }).click();
          await page.getByRole('button', { name: 'Reset all' }).click();
          await page.getByText('Nothing is set.').waitFor();
          await page.getByRole('button', { name: 'List transactions' }).click();
          await received.getByText('"type": "transaction"').first().waitFor();
          expect(await axe(page)).toEqual([]);
          expect(await page.locator('main').innerText()).toMatch(
            /example of the contract(?!.*moves no money)/s,
          );
        },
        { url: mock.url },
      );
      await visit(
        '/docs/guides/authentication.html',
        (page) => page.getByText('This is the mock: any token will do').waitFor(),
        { url: mock.url },
      );
    } finally {
      await mock.close();
    }
  });

  describe('a hostile page', () => {
    let evil: Server;
    let evilUrl: string;

    beforeAll(async () => {
      evil = createServer((_request, response) => {
        response
          .writeHead(200, { 'content-type': 'text/html' })
          .end('<!doctype html><title>Evil</title><link rel="icon" href="data:,"><h1>Evil</h1>');
      });
      await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
      evilUrl = `http://127.0.0.1:${(evil.address() as AddressInfo).port}`;
    });
    afterAll(() => {
      evil.close();
    });

    /** Status and body of each attempt, or `refused` if the browser did not let the page see them. */
    const attempts = (target: string, event: string) => `(async () => {
      const attempt = (path, init) => fetch('${target}' + path, init)
        .then(async (response) => [response.type, response.status, await response.text()].join(' '), () => 'refused');
      const json = { 'content-type': 'application/json' };
      return [
        await attempt('/sandbox/feed'),
        await attempt('/sandbox/feed', { mode: 'no-cors' }),
        await attempt('/sandbox/token', { method: 'POST', headers: json }),
        await attempt('/sandbox/token', { method: 'POST', mode: 'no-cors' }),
        await attempt('/sandbox/events/${event}/replay', { method: 'POST', headers: json }),
        await attempt('/sandbox/events/${event}/replay', { method: 'POST', mode: 'no-cors' }),
      ];
    })()`;

    it('of another origin reads nothing, does nothing and frames nothing', async () => {
      await using receiver = await startReceiver();
      await subscribe(service, receiver.url);
      await storeCard(service);
      await receiver.received(1);
      const event = String(receiver.got[0]?.headers['webhook-id']);
      const page = await browser.newPage();
      await page.goto(evilUrl);
      const seen = await page.evaluate<string[]>(attempts(service.url, event));
      const absent = / 404 .*"not_found"/s;
      for (const answer of seen)
        expect(answer).toSatisfy((text: string) => /^(refused|opaque 0 )$/.test(text) || absent.test(text));
      expect(seen.join()).not.toMatch(/token|requests/);
      // A form is no fetch: it needs nobody's permission.
      const posted = page.waitForResponse((response) => response.url().endsWith('/replay'));
      await page.evaluate(`(() => {
        const form = document.createElement('form');
        form.method = 'post';
        form.action = '${service.url}/sandbox/events/${event}/replay';
        document.body.append(form);
        form.submit();
      })()`);
      expect((await posted).status()).toBe(404);
      await page.waitForURL(/\/replay$/);
      await page.goto(evilUrl);
      await page.evaluate(`document.body.innerHTML = '<iframe src="${service.url}/console/"></iframe>'`);
      await expect
        .poll(() => page.frames().some((frame) => frame.url().startsWith('chrome-error:')))
        .toBe(true);
      expect(receiver.got).toHaveLength(1);
      await page.close();
    });
  });
});
