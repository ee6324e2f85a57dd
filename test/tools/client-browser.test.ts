// What the client has of its own for browsers: waiting, and WebCrypto. Lists and forms are those of the guide, which
// client-package.test.ts runs.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, launch, withoutChromium } from '../support/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';

const folder = join(import.meta.dirname, '..', '..', 'client');

/** As a global, so that a test can call it from outside of the page. */
const bundle = async (entry: string) => {
  const { outputFiles } = await build({
    entryPoints: [join(folder, entry)],
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'payments',
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
};

describe.skipIf(!chromiumPath)(`in Chromium${chromiumPath ? '' : ` (${withoutChromium})`}`, () => {
  let service: TestService;
  let site: Server;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    const code = await bundle('index.ts');
    service = await startTestService();
    site = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      response.end(
        `<!doctype html><title>Shop</title><link rel="icon" href="data:,"><script>${code}</script>`,
      );
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    browser = await launch();
    page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  });
  afterAll(async () => {
    await browser.close();
    site.close();
    await service[Symbol.asyncDispose]();
  });

  /** Runs in the page, with `payments`, `client` and what is given. */
  const inPage = (code: string, given: Record<string, unknown> = {}) =>
    page.evaluate<unknown>(`(async ({ baseUrl, token, ...given }) => {
      const client = payments.createPaymentsClient({ baseUrl, token, merchantAccount: 'marketplace' });
      ${code}
    })(${JSON.stringify({ baseUrl: service.url, token: service.token('*.read', '*.write'), ...given })})`);

  it('reads Retry-After, which is too long for a page, or waits and tries again if it says so', async () => {
    const outcome = await inPage(
      `const { embed, other } = given;
      let current = embed;
      const waits = [];
      const sleep = async (milliseconds) => { waits.push(milliseconds / 1000); current = other; };
      const limited = payments.createPaymentsClient({ baseUrl, token: () => current, retry: { sleep, maxWaitSeconds: 60 } });
      const hasty = payments.createPaymentsClient({ baseUrl, token: embed });
      const body = { items: [{ number: '9999000050001234', pin: '1234' }] };
      const statuses = new Set();
      for (let call = 0; call < 51; call += 1) statuses.add((await limited.POST('/gift-cards/balances', { body })).response.status);
      const { error } = await hasty.POST('/gift-cards/balances', { body });
      const inTime = (seconds) => seconds > 5 && seconds <= 60;
      return { waits: waits.map(inTime), statuses: [...statuses], code: error.code, seconds: inTime(error.retryAfterSeconds) };`,
      { embed: service.token('embed'), other: service.token('embed', 'gift-cards.read') },
    );
    expect(outcome).toEqual({ waits: [true], statuses: [200], code: 'too_many_requests', seconds: true });
  });

  it('signs with WebCrypto in a web worker', async () => {
    const code = await bundle('server.ts');
    const found = await inPage(
      `const worker = new Worker(URL.createObjectURL(new Blob([given.code])));
      const answer = new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
      });
      worker.postMessage({ baseUrl, privateKey: given.privateKey });
      return answer;`,
      {
        privateKey: service.key.export({ type: 'pkcs8', format: 'pem' }),
        code: `${code};onmessage = async ({ data: { baseUrl, privateKey } }) => {
          const client = payments.createPaymentsClient({ baseUrl, keyPair: { privateKey } });
          const { response } = await client.GET('/transactions');
          const sec1 = { privateKey: '-----BEGIN EC PRIVATE KEY-----' };
          const refusal = await payments.signToken(sec1).catch(({ message }) => message);
          postMessage([response.status, refusal]);
        };`,
      },
    );
    // What it cannot read without node:crypto, it says how to convert.
    expect(found).toEqual([200, expect.stringContaining('openssl pkcs8 -topk8')]);
  });

  it('checks a webhook with WebCrypto', async () => {
    const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
    const body = JSON.stringify({
      type: 'event',
      name: 'transaction.created',
      target: { external_identifier: 'Größe' },
    });
    const now = new Date();
    const headers = {
      'webhook-id': 'a',
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('a', now, body),
    };
    const outcome = await inPage(
      `const { delivery } = given;
      const { name } = await payments.verifyWebhook(delivery);
      const refused = await payments.verifyWebhook({ ...delivery, body: delivery.body + ' ' }).catch((error) => error.code);
      return { name, refused };`,
      { delivery: { headers, body, secret } },
    );
    expect(outcome).toEqual({ name: 'transaction.created', refused: 'signature' });
  });
});
