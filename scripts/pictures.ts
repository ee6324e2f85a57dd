// `npm run pictures`: the picture of the README, taken from a sandbox of its own.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { root } from './support/root.ts';
import { createSandbox, type Sandbox } from './support/sandbox.ts';

const folder = join(root, 'docs', 'pictures');
const help = `Take the picture of the README anew, from a sandbox of its own, and write it to docs/pictures/.
Needs Chromium: apt-get install chromium, or name it in CHROMIUM_PATH.

  npm run pictures`;

const card = { method: 'card', number: '4111111111111111', expiration_date: '12/39', security_code: '123' };

/** What a developer does in a first minute, with an error or two. */
async function visit({ url, payments }: Sandbox): Promise<void> {
  const scopes = 'payment-methods.write,transactions.read,gift-cards.read,webhook-subscriptions.write';
  const token = payments('token', '--scopes', scopes).stdout.trim();
  const call = async (path: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
  };
  await call('/webhook-subscriptions', { url: 'http://127.0.0.1:9/events' });
  await call('/transactions?limit=20');
  await call('/payment-methods', { ...card, external_identifier: 'checkout-1' });
  await call('/payment-methods', { ...card, external_identifier: 'checkout-1' });
  await call('/payment-methods', { ...card, expiration_date: '13' });
  await call('/transactions?status=capture_succeeded&limit=50');
  await call('/card-scheme-definitions', undefined, { authorization: 'Bearer none' });
}

async function take(page: Page, url: string, name: string): Promise<void> {
  await page.goto(url);
  await page.getByRole('button', { name: 'Store a test card' }).click();
  await page.getByText('201 Created').waitFor();
  await page.locator('#events summary').first().click();
  await page.evaluate('scrollTo(0, 0)');
  // As everybody sees it, instead of the folder and the port of this run.
  await page.evaluate(`for (const code of document.querySelectorAll('pre code, pre'))
    if (code.childElementCount === 0)
      code.textContent = code.textContent.replace(/DATA_DIR=\\S+ /, '').replace(/127\\.0\\.0\\.1:\\d+/, '127.0.0.1:8080')`);
  // The first picture after a jump may be of a page that is still being drawn.
  await page.screenshot();
  await page.screenshot({ path: join(folder, `${name}.png`) });
  console.log(`docs/pictures/${name}.png`);
}

async function main(): Promise<void> {
  if (process.argv.includes('--help')) {
    console.log(help);
    return;
  }
  mkdirSync(folder, { recursive: true });
  await using service = await createSandbox();
  await service.start();
  await visit(service);
  const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--force-color-profile=srgb'],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1400, height: 1000 }, colorScheme: 'light' });
    await take(page, `${service.url}/`, 'landing-page');
  } finally {
    await browser.close();
  }
}

await main();
