// The script of every page of the docs: colours, menu, search and copy buttons. It works from a file too.
import type { Entry } from './entry.ts';
import { copyButtons } from './copy.ts';
import { find } from './find.ts';
import { applyKeptMode, connectModeButton } from './mode.ts';
import { remember, remembered } from './kept.ts';
import { createSearch, excerpt } from './search.ts';

const { root = '', search = '' } = document.currentScript?.dataset ?? {};
const html = document.documentElement;

applyKeptMode();

addEventListener('DOMContentLoaded', () => {
  connectModeButton(find('.theme-button'));
  mockNote();
  if (document.querySelector('#menu')) menu();
  languages();
  chooseUrl();
  for (const code of document.querySelectorAll('.code code')) showOwnUrl(code);
  for (const link of document.querySelectorAll<HTMLAnchorElement>(`a[href^="${usualUrl}"]`))
    link.href = link.href.replace(usualUrl, ownUrl);
  copyButtons();
  searchDialog();
});

/** Guides tell how to get a token, which a mock does not need. */
function mockNote(): void {
  if (html.dataset.mock === undefined) return;
  document
    .querySelector('article.guide h1')
    ?.after(
      part(
        'p',
        'This is the mock: any token will do (Authorization: Bearer anything), and nothing is stored.',
      ),
    );
}

/** The address of a sandbox in every example. */
let usualUrl = 'http://127.0.0.1:8080';
const usualMockUrl = 'http://127.0.0.1:4010';

/** In a sandbox or a mock, as here.js says, examples name the server of the page, so that what is copied from them works. */
const ownUrl =
  html.dataset.own === undefined ? usualUrl : new URL(`${root}..`, location.href).href.replace(/\/$/, '');

/** A page that also names the address of the mock is about both servers: there the mock shows its own only. */
function chooseUrl(): void {
  const isMock = html.dataset.mock !== undefined;
  if (isMock && document.body.textContent.includes(usualMockUrl)) usualUrl = usualMockUrl;
}

function showOwnUrl(element: Element): void {
  if (ownUrl === usualUrl) return;
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: node } = texts;
    if (node.nodeValue?.includes(usualUrl)) node.nodeValue = node.nodeValue.replaceAll(usualUrl, ownUrl);
  }
}

/** Called in Redoc's script (see reference.ts), before it compares the page with the contract. */
window.withOwnUrl = (contract) => {
  showOwnUrl(find('#redoc'));
  return JSON.parse(JSON.stringify(contract).replaceAll(usualUrl, ownUrl)) as unknown;
};

const languageKey = 'docs.language';

/** Code in several languages: the one that was chosen is shown, on this page and on the next. */
function languages(): void {
  const buttons = [...document.querySelectorAll<HTMLElement>('.code-head [data-language]')];
  const show = (language: string) => {
    for (const button of buttons.filter((one) => one.dataset.language === language)) {
      for (const other of button.parentElement?.querySelectorAll('[data-language]') ?? [])
        other.setAttribute('aria-pressed', String(other === button));
      for (const code of button.closest('.code')?.querySelectorAll('pre') ?? [])
        code.hidden = code.dataset.language !== language;
    }
  };
  for (const button of buttons)
    button.addEventListener('click', () => {
      const { language = '' } = button.dataset;
      show(language);
      remember(languageKey, language);
    });
  show(remembered(languageKey) ?? '');
}

function menu(): void {
  const button = find('.menu-button');
  const nav = find('#menu');
  const open = (isOpen: boolean) => {
    html.classList.toggle('menu-open', isOpen);
    button.setAttribute('aria-expanded', String(isOpen));
  };
  button.addEventListener('click', () => {
    open(!html.classList.contains('menu-open'));
  });
  nav.addEventListener('click', ({ target }) => {
    if ((target as Element).closest('a')) open(false);
  });
  addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || !html.classList.contains('menu-open')) return;
    open(false);
    button.focus();
  });
  const mark = () => {
    const links = [...nav.querySelectorAll('a')];
    const here = location.hash.replace(/^(#[^#]*)#.*/, '$1').toLowerCase();
    for (const link of links) {
      const isHere =
        link.pathname === location.pathname && (link.hash === '' || link.hash.toLowerCase() === here);
      if (isHere) link.setAttribute('aria-current', 'page');
      else if (link.hash) link.removeAttribute('aria-current');
    }
    nav.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  };
  mark();
  addEventListener('hashchange', mark);
  // Redoc changes the address while the reader scrolls, which is no event.
  for (const name of ['pushState', 'replaceState'] as const) {
    const original = history[name].bind(history);
    history[name] = (...args) => {
      original(...args);
      mark();
    };
  }
}

declare global {
  interface Window {
    searchEntries?: Entry[];
    withOwnUrl?: (contract: unknown) => unknown;
  }
}

let searching: Promise<(query: string) => Entry[]> | undefined;

/** Loaded as a script, because a page that is opened as a file may not fetch. */
const loadSearch = () =>
  (searching ??= new Promise<void>((done, failed) => {
    const script = document.createElement('script');
    script.src = search;
    script.addEventListener('load', () => {
      done();
    });
    script.addEventListener('error', failed);
    document.head.append(script);
  }).then(() => createSearch(window.searchEntries ?? [])));

function searchDialog(): void {
  const dialog = find('dialog.search') as HTMLDialogElement;
  const input = find('dialog.search input') as HTMLInputElement;
  const list = find('dialog.search ul');
  const status = find('dialog.search .found');
  const open = () => {
    if (dialog.open) return;
    dialog.showModal();
    input.select();
    void loadSearch();
  };
  find('.search-button').addEventListener('click', open);
  addEventListener('keydown', (event) => {
    const typing = (event.target as Element).closest('input, textarea, select, [contenteditable]');
    const wanted = (event.key === '/' && !typing) || (event.key === 'k' && (event.metaKey || event.ctrlKey));
    if (!wanted) return;
    event.preventDefault();
    open();
  });
  dialog.addEventListener('click', ({ target }) => {
    // A click on the dialog itself is one on its backdrop.
    if (target === dialog || (target as Element).closest('a')) dialog.close();
  });
  input.addEventListener('input', () => {
    void loadSearch().then((ask) => {
      const query = input.value.trim();
      const found = query ? ask(query) : [];
      status.replaceChildren(...(query && found.length === 0 ? nothingFound() : []));
      list.replaceChildren(...found.map((entry) => resultItem(entry, query)));
    });
  });
  dialog.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    const stops = [input, ...list.querySelectorAll('a')];
    const at = stops.indexOf(document.activeElement as HTMLInputElement);
    stops.at((at + (event.key === 'ArrowDown' ? 1 : -1)) % stops.length)?.focus();
    event.preventDefault();
  });
  input.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter') list.querySelector('a')?.click();
  });
}

const nothingFound = () => [
  'Nothing found. See ',
  linkTo('guides/getting-started.html', 'Getting started'),
  ', ',
  linkTo('guides/errors.html', 'Errors'),
  ' or ',
  linkTo('reference.html', 'the reference'),
  '.',
];

function linkTo(href: string, text = ''): HTMLAnchorElement {
  const link = document.createElement('a');
  link.href = root + href;
  link.textContent = text;
  return link;
}

function resultItem({ title, place, href, text }: Entry, query: string): HTMLLIElement {
  const item = document.createElement('li');
  const link = linkTo(href);
  const around = part('small', '');
  for (const [at, piece] of excerpt(text.replaceAll(usualUrl, ownUrl), query).entries())
    around.append(at % 2 === 1 ? part('mark', piece) : piece);
  link.append(part('strong', title), part('span', place), around);
  item.append(link);
  return item;
}

function part(tag: string, text: string): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}
