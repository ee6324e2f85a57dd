// A real browser for tests: the installed Chromium, driven by playwright-core, which does not include a browser.
import { accessSync, constants } from 'node:fs';
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

/** Texts whose contrast with what is behind them is below WCAG AA, such as `2.58 get`. */
export const faintTexts = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const parse = (colour) => (colour.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
    const over = ([r, g, b, a = 1], under) => [r, g, b].map((part, i) => part * a + under[i] * (1 - a));
    const light = (rgb) => {
      const [r, g, b] = rgb.map((part) => (part <= 10 ? part / 3294 : ((part / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) =>
      element ? over(parse(getComputedStyle(element).backgroundColor), behind(element.parentElement)) : [255, 255, 255];
    const faint = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      const text = walker.currentNode.textContent.trim();
      if (!text || element.closest('script, style') || !element.checkVisibility({ visibilityProperty: true })) continue;
      const style = getComputedStyle(element);
      const ground = behind(element);
      const [low, high] = [light(ground), light(over(parse(style.color), ground))].sort((a, b) => a - b);
      const size = parseFloat(style.fontSize);
      const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      const contrast = (high + 0.05) / (low + 0.05);
      if (contrast < (isLarge ? 3 : 4.5)) faint.add(contrast.toFixed(2) + ' ' + text.slice(0, 40));
    }
    return [...faint];
  })()`);

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
