// A real browser for tests: the installed Chromium, driven by playwright-core, which does not include a browser.
import { accessSync, constants, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type Page } from 'playwright-core';

const candidates = [
  process.env.CHROMIUM_PATH,
  // The same engine without windows, which needs a fifth less CPU.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Undefined if there is no Chromium; the tests are then skipped. */
export const chromiumPath = candidates.find((path) => path && isExecutable(path));

export const withoutChromium =
  'Skipped: there is no Chromium. Get one with `apt-get install chromium`, or name it in CHROMIUM_PATH.';

export function launch(more: string[] = []): Promise<Browser> {
  if (!chromiumPath) throw new Error(withoutChromium);
  // No sandbox, because tests may run as root; and no background requests of the browser itself.
  const quiet = ['disable-gpu', 'disable-quic', 'no-first-run', 'disable-background-networking'];
  const flags = ['no-sandbox', ...quiet, 'disable-component-update', 'disable-sync', ...more];
  return chromium.launch({ executablePath: chromiumPath, args: flags.map((flag) => `--${flag}`) });
}

export interface Diary {
  /** Requests to other origins. They are refused. */
  outside: string[];
  /** Errors and warnings on the console, and exceptions. */
  complaints: string[];
}

export async function keepDiary(page: Page, isInside: (url: URL) => boolean): Promise<Diary> {
  const diary: Diary = { outside: [], complaints: [] };
  page.on('pageerror', (error) => diary.complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') diary.complaints.push(message.text());
  });
  // `request` also reports requests that a content security policy blocks, which never reach `route`.
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (!isOwn(url, isInside)) diary.outside.push(request.url());
  });
  await page.route(
    (url) => !isOwn(url, isInside),
    (route) => route.abort(),
  );
  return diary;
}

const isOwn = (url: URL, isInside: (url: URL) => boolean) =>
  /^(data|blob|about):$/.test(url.protocol) || isInside(url);

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeOptions {
  only?: string[];
  theirs?: string[];
  /** Selectors of what is not looked at. */
  without?: string[];
  /** The least that is reported; all if it is left out. */
  impact?: 'critical';
}

/** What axe finds on a page, as `rule: element`. In the markup of others, the rules `theirs` are left out. */
export async function axe(page: Page, { only, theirs = [], without = [], impact }: AxeOptions = {}) {
  await page.evaluate(axeSource);
  // What these find is never critical, and to look for it takes most of the time.
  const notCritical = ['color-contrast', 'target-size', 'region', 'scrollable-region-focusable'];
  const rules = Object.fromEntries(notCritical.map((rule) => [rule, { enabled: false }]));
  const options = {
    resultTypes: ['violations'],
    ...(only ? { runOnly: only } : {}),
    ...(impact === 'critical' ? { rules } : {}),
  };
  const found = await page.evaluate<[rule: string, element: string, isTheirs: boolean][]>(`
    axe.run({ exclude: ${JSON.stringify(without)} }, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.flatMap(({ id, impact, nodes }) => (${JSON.stringify(impact ?? '')} || impact) !== impact ? [] : nodes.map(({ html, target: [at] }) =>
        [id, html, at === 'html' || document.querySelector(at)?.closest('#redoc, #console, .scalar-client') != null])))`);
  return found.flatMap(([rule, element, isTheirs]) =>
    isTheirs && theirs.includes(rule) ? [] : `${rule}: ${element}`,
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
