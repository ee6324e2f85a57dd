// The script of every page of the docs: colours, menu, search and copy buttons. It works from a file too.
import { copyButtons } from './copy.ts';
import { find, make } from './elements.ts';
import { remember, remembered } from './kept.ts';
import { applyKeptMode, connectModeButton } from './mode.ts';
import { createSearch, excerpt, type Entry } from './search.ts';

const { root = '', search = '' } = document.currentScript?.dataset ?? {};
const html = document.documentElement;

applyKeptMode();
// Redoc has drawn the overview at build time, and draws the operation that the address names only when it runs.
html.classList.toggle('to-operation', location.hash.startsWith('#/'));

addEventListener('DOMContentLoaded', () => {
  connectModeButton(find('.theme-button'));
  // Guides tell how to get a token, which a mock does not need.
  const note = 'This is the mock: any token will do (Authorization: Bearer anything), and nothing is stored.';
  if (isMock) document.querySelector('article.guide h1')?.after(make('p', note));
  if (document.querySelector('#menu')) menu();
  languages();
  unfold();
  addEventListener('hashchange', unfold);
  for (const code of document.querySelectorAll('.code code')) showOwnUrl(code);
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[href^="http://127.0.0.1:"]'))
    if (link.pathname === '/console/' && lacksConsole) link.replaceWith(...link.childNodes);
    else link.href = withOwn(link.href);
  copyButtons();
  searchDialog();
});

// What the server says in here.js. Without it the pages were opened as files, or come from a server of production.
const { kind } = html.dataset;
const isMock = kind === 'mock';
/** Behind a proxy and in a container. */
const lacksConsole = kind !== undefined && html.dataset.console === undefined;

/** The server that examples name: a sandbox, and in examples for a mock the mock. */
const usualUrl = isMock ? /http:\/\/127\.0\.0\.1:(8080|4010)/g : /http:\/\/127\.0\.0\.1:8080/g;

/** In a sandbox or a mock, examples name the server of the page, so that what is copied from them works. */
const withOwn = (text: string) =>
  kind === undefined
    ? text
    : text.replaceAll(usualUrl, new URL(`${root}..`, location.href).href.replace(/\/$/, ''));

function showOwnUrl(element: Element): void {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.nodeValue = withOwn(texts.currentNode.nodeValue ?? '');
}

/** Called in Redoc's script (see reference.ts), before it compares the page with the contract. */
window.withOwnUrl = (contract) => {
  showOwnUrl(find('#redoc'));
  return JSON.parse(withOwn(JSON.stringify(contract))) as unknown;
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

/** A link into what is folded opens it. Not every browser does that by itself. */
function unfold(): void {
  const target = document.getElementById(location.hash.slice(1));
  const folds = [];
  for (let fold = target?.closest('details'); fold; fold = fold.parentElement?.closest('details'))
    if (!fold.open) folds.push(fold);
  for (const fold of folds) fold.open = true;
  // Else the browser is there already, or where the reader was before Back.
  if (folds.length > 0) target?.scrollIntoView();
}

/** Marks the operation that is shown. On a phone the menu is a popover: see style.css. */
function menu(): void {
  const nav = find('#menu');
  nav.addEventListener('click', ({ target }) => {
    if ((target as Element).closest('a')) nav.hidePopover();
  });
  const mark = () => {
    const here = location.pathname + location.hash.replace(/^(#[^#]*)#.*/, '$1').toLowerCase();
    for (const link of nav.querySelectorAll<HTMLAnchorElement>('a[href*="#"]'))
      if (link.pathname + link.hash === here) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
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
  (searching ??= new Promise((done) => {
    const script = document.createElement('script');
    script.src = search;
    script.addEventListener('load', () => {
      done(createSearch(window.searchEntries ?? []));
    });
    document.head.append(script);
  }));

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
      status.textContent = query && found.length === 0 ? 'Nothing found.' : '';
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

function resultItem({ title, place, href, text, mark }: Entry, query: string): HTMLElement {
  const link = document.createElement('a');
  link.href = root + href;
  const around = excerpt(withOwn(text), query).map((piece, at) => (at % 2 === 1 ? make('b', piece) : piece));
  link.append(
    make('strong', title),
    make('span', mark ? `${place} · ${mark}` : place),
    make('small', ...around),
  );
  return make('li', link);
}
