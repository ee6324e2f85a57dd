// The approval page of the sandbox, used by a buyer in a real browser.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approvalPage } from '../../scripts/dashboard/pages.ts';
import { findPaymentMethodOfAnyAccount } from '../../server/resources/payment-methods/any-account.ts';
import { chromiumPath, keepDiary, launch, withoutChromium, type Diary } from '../support/browser.ts';
import { writingAnything } from '../support/records.ts';
import { startTestService, type TestService } from '../support/service.ts';

if (!chromiumPath) console.warn(withoutChromium);

describe.skipIf(!chromiumPath)('the approval page', () => {
  let service: TestService;
  let browser: Browser;
  let shop: Server;
  let back: string;
  let pagesDir: string;

  beforeAll(async () => {
    pagesDir = mkdtempSync(join(tmpdir(), 'payments-pages-'));
    writeFileSync(join(pagesDir, 'approval.html'), approvalPage());
    service = await startTestService({ pagesDir });
    shop = createServer((_request, response) => {
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><title>Shop</title><link rel="icon" href="data:,"><h1>Welcome back</h1>');
    });
    await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
    // A different origin, because the shop is not served by the service.
    back = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/back?order=1&x=%C3%A9`;
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    shop.close();
    await service[Symbol.asyncDispose]();
    rmSync(pagesDir, { recursive: true });
  });

  const create = async (redirect_url: string | null) => {
    const { body } = await service.call('POST', '/payment-methods', {
      token: service.token('payment-methods.write'),
      body: { method: 'card', number: '5105105105105100', expiration_date: '12/39', redirect_url },
    });
    return body as { id: string; approval_url: string };
  };
  const statusOf = async (id: string) =>
    (await findPaymentMethodOfAnyAccount(service.service.database.db, id))?.status;

  const open = async (url: string, visited: (page: Page, diary: Diary) => Promise<void>) => {
    const context = await browser.newContext({ viewport: { width: 800, height: 600 } });
    const page = await context.newPage();
    const ours = new Set([new URL(service.url).origin, new URL(back).origin]);
    const diary = await keepDiary(page, ({ origin }) => ours.has(origin));
    await page.goto(url);
    await visited(page, diary);
    expect(diary).toEqual({ outside: [], complaints: [] });
    await context.close();
  };

  it('approves, and leads back to the shop', async () => {
    const { id, approval_url } = await create(back);
    await open(approval_url, async (page) => {
      await page.getByText('your Mastercard card that ends in 5100').waitFor();
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByRole('heading', { name: 'Welcome back' }).waitFor();
      expect(page.url()).toBe(back);
    });
    expect(await statusOf(id)).toBe('succeeded');
    await open(approval_url, async (page) => {
      await page.getByRole('heading', { name: 'Your card is stored' }).waitFor();
      expect(await page.getByRole('button').count()).toBe(0);
    });
  });

  it('declines, and leads back to the shop', async () => {
    const { id, approval_url } = await create(back);
    await open(approval_url, async (page) => {
      await page.getByRole('button', { name: 'Decline' }).click();
      await page.getByRole('heading', { name: 'Welcome back' }).waitFor();
    });
    expect(await statusOf(id)).toBe('failed');
    await open(approval_url, async (page) => {
      await page.getByRole('heading', { name: 'Your card is not stored' }).waitFor();
    });
  });

  it('without a redirect_url says what was decided; the second of two clicks changes nothing', async () => {
    const { id, approval_url } = await create(null);
    await open(approval_url, async (page) => {
      const late = await page.context().newPage();
      await late.goto(approval_url);
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByRole('heading', { name: 'Your card is stored' }).waitFor();
      await late.getByRole('button', { name: 'Decline' }).click();
      await late.getByRole('heading', { name: 'Your card is stored' }).waitFor();
    });
    expect(await statusOf(id)).toBe('succeeded');
  });

  it('one that is processing, moved there by an operator, is not said to be refused', async () => {
    const { id, approval_url } = await create(null);
    const { db } = service.service.database;
    await writingAnything(db)
      .updateTable('payment_methods')
      .set({ status: 'processing' })
      .where('id', '=', id)
      .execute();
    await open(approval_url, async (page) => {
      await page.getByText('being processed').waitFor();
    });
  });

  it.each([randomUUID(), 'unicorn'])('404 for %s', async (id) => {
    const path = `/sandbox/approvals/${id}`;
    for (const method of ['GET', 'POST']) {
      const response = await fetch(service.url + path, { method });
      expect([response.status, response.headers.get('content-type')]).toEqual([
        404,
        'application/json; charset=utf-8',
      ]);
      expect(await response.json()).toMatchObject({ type: 'error', code: 'not_found', status: 404 });
    }
  });
});
