// The sandbox's pages: landing page and console for developers, and the approval of a card. They are no part of the docs, because production has none of
// them; server/kit/http/dashboard serves them and answers what they ask. Header, style and search are those of the docs beside them.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundled } from '../docs/bundled.ts';
import { itemsOf, type Contract } from '../docs/contract.ts';
import { createSite } from '../docs/files.ts';
import { escape } from '../docs/markdown.ts';
import { frame, type Frame } from '../docs/shell.ts';
import { root } from '../support/root.ts';
import { contractOfForms, listOperations } from './operations.ts';

const own = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
const browser = join(import.meta.dirname, 'browser');

/** Scalar as one script. The package of the same name without `fastify-` has 300 others in tow. */
const scalar = join(root, 'node_modules/@scalar/fastify-api-reference/dist/js/standalone.js');

export async function assemblePages(parts: Frame, contract: Contract) {
  const site = createSite();
  const script = (path: string) => `<script src="/${path}"></script>\n`;
  const places = Object.fromEntries(
    itemsOf(contract).map(({ operation, href }) => [operation.operationId, href]),
  );
  const style = `<link rel="stylesheet" href="/${site.asset('dashboard.css', own('style.css'))}">\n`;
  const about = { description: parts.name, up: '/docs/' };
  site.page(
    'console/index.html',
    frame(parts, {
      ...about,
      title: 'Console',
      path: 'console/index.html',
      here: 'Console',
      head:
        style +
        // Large: the page is shown and works before it is there.
        `<script async src="/${site.asset('scalar.js', readFileSync(scalar))}"></script>\n` +
        script(site.asset('console.js', await bundled(join(browser, 'console.ts')))),
      content: own('console.html')
        .replace('{{operations}}', () => listOperations(contract))
        .replace('{{contract}}', () => escape(JSON.stringify(contractOfForms(contract)))),
    }),
  );
  site.page('approval.html', approvalPage());
  // Last: until it is there, the server says that the pages are being built.
  site.page(
    'index.html',
    frame(parts, {
      ...about,
      title: 'Sandbox',
      path: 'index.html',
      head: style + script(site.asset('dashboard.js', await bundled(join(browser, 'dashboard.ts')))),
      here: 'Home',
      content: own('landing.html').replace('{{operations}}', () => escape(JSON.stringify(places))),
    }),
  );
  return site;
}

/** For buyers: without the header of the docs. The server fills in `{{content}}`. */
export function approvalPage(): string {
  const [colours = ''] = /^:root \{[^}]*\}/m.exec(own('../docs/style.css')) ?? [];
  const style = `${colours}\n${own('approval.css')}`;
  const digest = createHash('sha256').update(style).digest('base64');
  const parts: Record<string, string> = {
    style: `<style>${style}</style>`,
    logo: `data:image/svg+xml,${encodeURIComponent(own('../docs/logo.svg'))}`,
    policy: `default-src 'none'; img-src data:; style-src 'sha256-${digest}'; base-uri 'none'`,
  };
  return own('approval.html').replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => parts[name] ?? whole);
}
