/** The code of the guide for frontend teams, and its pages in a browser after Vite has built them. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { keepDiary, launch } from './browser.ts';
import { root } from './processes.ts';

export const guide = readFileSync(join(root, 'docs/guides/frontend-team.md'), 'utf8');

/** The files of the guide: a name, a colon, and a block of code. */
export const files = new Map(
  [...guide.matchAll(/`([\w./-]+)`:\n\n```\w+\n(.*?)```/gs)].map(([, name = '', code = '']) => [name, code]),
);

/** What a page shows of a transaction in dollars. */
export const dollars = /^\$[\d,]+\.\d\d [a-z_]+$/;

export type Shop = Awaited<ReturnType<typeof openShop>>;

/** `folder` has the built pages. */
export async function openShop(folder: string) {
  const shop = { token: '', baseUrl: '' };
  const site = createServer(({ url = '' }, response) => {
    // As Vite answers when the backend behind it does not.
    if (url === '/token' && shop.token === '') return void response.writeHead(500).end();
    // With a newline at the end, as a shell writes it.
    if (url === '/token') return void response.end(`${shop.token}\n`);
    const type = extname(url) === '.js' ? 'text/javascript' : 'text/html';
    const text = readFileSync(join(folder, url), 'utf8');
    response.setHeader('Content-Type', type).end(text.replace('http://127.0.0.1:4010', shop.baseUrl));
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const own = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const browser = await launch();

  /** Loads a page of the guide, with this base URL instead of the guide's, and the token that the page fetches. */
  async function open(file: string, baseUrl: string, token: string) {
    Object.assign(shop, { baseUrl, token });
    const page = await browser.newPage();
    const diary = await keepDiary(page, ({ hostname }) => hostname === '127.0.0.1');
    const calls: string[] = [];
    page.on('request', (request) => calls.push(new URL(request.url()).origin));
    await page.goto(`${own}/${file}`, { waitUntil: 'networkidle' });
    const others = () => new Set(calls.filter((origin) => origin !== own));
    return { page, diary, others, lines: () => page.locator('li').allTextContents() };
  }

  return {
    open,
    useToken: (token: string) => {
      shop.token = token;
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      site.close();
    },
  };
}
