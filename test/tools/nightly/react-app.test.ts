// The guide for frontend teams with React, TanStack Query and MSW: its code is compiled, tested and built in a project of its own, and
// used in a browser.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMock, type Mock } from '../../../mock/mock.ts';
import { packClient } from '../../../scripts/packages.ts';
import { chromiumPath, withoutChromium } from '../../support/browser.ts';
import { run } from '../../support/processes.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { dollars, files, openShop, type Shop } from '../../support/shop.ts';

/** What the guide installs. */
const packages = [
  ...['vite@8.3.8', 'typescript@7.0.2', 'vitest@4.1.12', 'msw@2.15.0', '@tanstack/react-query@5.107.1'],
  ...['react@19.3.1', 'react-dom@19.3.1', '@types/react@19.3.0', '@types/react-dom@19.3.0'],
];

let app: string;
let mock: Mock;
let service: TestService;

const succeed = async (command: string, ...args: string[]) => {
  const { status, output } = await run(command, args, { cwd: app });
  expect(status, output).toBe(0);
};
const write = async (name: string, text: string | Buffer) => {
  await mkdir(dirname(join(app, name)), { recursive: true });
  await writeFile(join(app, name), text);
};

beforeAll(async () => {
  app = await mkdtemp(join(tmpdir(), 'react-app-'));
  mock = await startMock({ port: 0 });
  service = await startTestService();
  for (const [name, code] of files) await write(name, code);
  await write('client.tgz', await packClient());
  await write('src/openapi.json', await (await fetch(`${mock.url}/openapi.json`)).text());
  const page = (script: string) => files.get('index.html')?.replace('/src/main.ts', script) ?? '';
  await write('list.html', page('/src/transactions.tsx'));
  await write('card.html', page('/src/card-form.tsx'));
  const build = { rolldownOptions: { input: ['list.html', 'card.html'] } };
  await write('vite.config.mjs', `export default ${JSON.stringify({ build })};`);
  await write('package.json', JSON.stringify({ private: true, type: 'module' }));
  await succeed('npm', 'install', '--no-audit', '--no-fund', ...packages, './client.tgz');
});
afterAll(async () => {
  await mock.close();
  await service[Symbol.asyncDispose]();
  await rm(app, { recursive: true });
});

it('compiles', () => succeed('npx', 'tsc'));

it('its test passes without a server', () => succeed('npx', 'vitest', 'run'));

describe.skipIf(!chromiumPath)(`in a real browser${chromiumPath ? '' : ` (${withoutChromium})`}`, () => {
  let shop: Shop;
  beforeAll(async () => {
    await succeed('npx', 'vite', 'build');
    shop = await openShop(join(app, 'dist'));
  });
  afterAll(() => shop[Symbol.asyncDispose]());

  it('the React list shows, aborts when its filter changes, and tells what went wrong', async () => {
    const { page, diary, lines } = await shop.open(
      'list.html',
      service.url,
      service.token('transactions.read'),
    );
    expect(diary).toEqual({ outside: [], complaints: [] });
    await page.locator('li').nth(2).waitFor();
    expect((await lines()).filter((line) => !dollars.test(line))).toEqual([]);

    const isHeld = ({ searchParams }: URL) => searchParams.get('currency') === 'EUR';
    const aborted = page.waitForEvent('requestfailed', (request) => isHeld(new URL(request.url())));
    const held = page.waitForRequest((request) => isHeld(new URL(request.url())));
    await page.route(isHeld, () => undefined);
    await page.locator('select').selectOption('EUR');
    await held;
    expect(await lines()).toEqual([]);
    await page.locator('select').selectOption('USD');
    expect((await aborted).failure()?.errorText).toBe('net::ERR_ABORTED');
    await page.locator('li').filter({ hasText: '$' }).first().waitFor();

    await page.unroute(isHeld);
    await page.locator('select').selectOption('EUR');
    await page.locator('li').filter({ hasText: '€' }).first().waitFor();
    expect((await lines()).filter((line) => !line.startsWith('€'))).toEqual([]);
    shop.useToken(service.token('embed'));
    await page.locator('select').selectOption('USD');
    expect(await page.getByRole('alert').textContent()).toMatch(/^403 forbidden: .*\(request [\w-]+\)$/);
    await page.close();
  });

  it('the React list loads more, and again after a failure', async () => {
    const { page, lines } = await shop.open('list.html', service.url, service.token('transactions.read'));
    const button = page.getByRole('button', { name: 'Load more' });
    const alert = page.getByRole('alert');
    await page.locator('li').nth(19).waitFor();
    const first = await lines();
    expect(first).toHaveLength(20);

    shop.useToken('<!doctype html>');
    await button.click();
    await alert.waitFor();
    expect(await alert.textContent()).toContain('`token` is not an access token');
    expect(await lines()).toEqual(first);

    shop.useToken(service.token('transactions.read'));
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('li').nth(20).waitFor();
    expect((await lines()).slice(0, 20)).toEqual(first);
    expect(await alert.count()).toBe(0);

    await page.close();

    const { page: another } = await shop.open('list.html', service.url, '<!doctype html>');
    expect(await another.getByRole('alert').textContent()).toContain('It is a page');
    shop.useToken(service.token('transactions.read'));
    await another.getByRole('button', { name: 'Try again' }).click();
    await another.locator('li').nth(19).waitFor();
    await another.close();
  });

  it('the card form shows faults at their fields, and sends the buyer to approve, with the mock and the service', async () => {
    for (const address of [mock.url, service.url]) {
      const { page, diary } = await shop.open('card.html', address, service.token('payment-methods.write'));
      const { status, store } = useForm(page);
      await store('4111 1111', '12/39', '12');
      await page.getByRole('alert').first().waitFor();
      expect(await page.getByRole('alert').allTextContents()).toEqual([
        'Enter 13 to 19 digits.',
        'Enter 3 or 4 digits.',
      ]);
      expect(await status.textContent()).toBe('');

      await store('4111 1111 1111 1111', '12/39', '123');
      await status.getByText('The card ending in 1111 is stored.').waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
      await store('4111111111111111', '12/19', '');
      await status.getByText('The card was not accepted.').waitFor();
      await store('4012888888881881', '12/39', '');
      await status.getByText('The card is being checked.').waitFor();
      shop.useToken(service.token('embed'));
      await store('5105105105105100', '12/39', '');
      await status.getByText('Something went wrong (forbidden').waitFor();
      // A browser prints every answer with an error on its console: here the 400 and the 403.
      expect(diary.outside).toEqual([]);
      expect(diary.complaints).toHaveLength(2);

      shop.useToken(service.token('payment-methods.write'));
      const approval = page.waitForRequest(
        (request) => request.isNavigationRequest() && request.url().startsWith(address),
      );
      await page.getByRole('button').click();
      await approval;
      await page.getByRole('heading', { name: /approve/i }).waitFor();
      await page.close();
    }
  });

  it('the card form keeps its key when the answer is lost, until the form changes', async () => {
    const { page } = await shop.open('card.html', service.url, service.token('payment-methods.write'));
    const { status, store } = useForm(page);
    const keys: (string | undefined)[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') keys.push(request.headers()['idempotency-key']);
    });
    const isStore = ({ pathname }: URL) => pathname === '/payment-methods';
    // Carried out, but the browser does not learn of it.
    await page.route(isStore, async (route) => {
      if (route.request().method() === 'POST') await route.fetch();
      await (route.request().method() === 'POST' ? route.abort() : route.continue());
    });
    await store('4111111111111111', '12/39', '');
    await status.getByText('There is no connection.').waitFor();
    await page.unroute(isStore);
    const answer = page.waitForResponse((one) => one.request().method() === 'POST');
    await page.getByRole('button').click();
    expect((await answer).headers()['idempotency-replayed']).toBe('true');
    await status.getByText('The card ending in 1111 is stored.').waitFor();
    await store('5555555555554444', '12/39', '');
    await status.getByText('The card ending in 4444 is stored.').waitFor();
    // The client itself tried three times.
    const [first, last] = [keys[0], keys[4]];
    expect(keys).toEqual([first, first, first, first, last]);
    for (const key of [first, last]) expect(key).toMatch(/^[\w-]{36}$/);
    expect(last).not.toBe(first);
    await page.close();
  });
});

/** The form that stores cards. */
function useForm(page: Page) {
  const store = async (number: string, date: string, code: string) => {
    await page.getByLabel('Card number').fill(number);
    await page.getByLabel('Expires').fill(date);
    await page.getByLabel('Security code').fill(code);
    await page.getByRole('button').click();
  };
  return { status: page.getByRole('status'), store };
}
