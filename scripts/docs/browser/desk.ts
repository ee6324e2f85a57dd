// The landing page: asks for news while someone looks, and writes them into two tables. Everything from outside is text.
import type { Feed, FeedDelivery, FeedEvent, FeedRequest } from '../../../server/http/desk/feed.ts';
import { find, make } from './elements.ts';

const everyMilliseconds = 1500;
const mostRows = 100;

addEventListener('DOMContentLoaded', () => {
  let after = 0;
  let shownEvents = '';
  const requests = find('#requests');
  const events = find('#events');

  const show = (feed: Feed) => {
    const kind = feed.kind === 'mock' ? 'Mock' : 'Sandbox';
    find('#kind').textContent = kind;
    document.title = document.title.replace(/^\w+/, kind);
    for (const text of document.querySelectorAll<HTMLElement>('[data-kind]'))
      text.hidden = text.dataset.kind !== feed.kind;
    find('#version').textContent = `contract ${feed.version}`;
    setText('#first-call', feed.firstCall);
    find('#try').hidden = false;
    setText('#state', 'Live: this page shows requests as they come.');
    if (feed.requests.length > 0) {
      if (after === 0) requests.replaceChildren();
      for (const request of feed.requests) requests.prepend(requestRow(request));
      while (requests.children.length > mostRows) requests.lastElementChild?.remove();
      after = feed.requests.at(-1)?.number ?? after;
    }
    if (!feed.events) return;
    find('#events-section').hidden = false;
    // Rows that did not change stay as they are, so that nobody loses the focus.
    const now = JSON.stringify(feed.events);
    if (now === shownEvents || feed.events.length === 0) return;
    shownEvents = now;
    const focused = document.activeElement?.closest('tr')?.dataset.id;
    events.replaceChildren(...feed.events.map(eventRow));
    if (focused) events.querySelector<HTMLElement>(`[data-id="${focused}"] button`)?.focus();
  };

  const ask = async () => {
    try {
      const response = await fetch(`/sandbox/feed?after=${after}`);
      if (!response.ok) throw new Error(String(response.status));
      show((await response.json()) as Feed);
    } catch {
      // After a restart the numbers begin again.
      after = 0;
      setText('#state', 'No response from the server. Trying again.');
    }
  };
  const goOn = async () => {
    if (!document.hidden) await ask();
    setTimeout(() => void goOn(), everyMilliseconds);
  };
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) void ask();
  });
  void goOn();
});

/** Only if it is new: a screen reader speaks every change. */
function setText(selector: string, text: string): void {
  const element = find(selector);
  if (element.textContent !== text) element.textContent = text;
}

const time = (at: string) => new Date(at).toLocaleTimeString();

/** `name` is its class: a method, or how it ended. */
function named(name: string, tag: string, text: string): HTMLElement {
  const element = make(tag, text);
  element.className = name;
  return element;
}

const row = (...cells: (string | Node)[]) => make('tr', ...cells.map((cell) => make('td', cell)));

function requestRow({ at, method, path, status, code, reason, ms, requestId }: FeedRequest): HTMLElement {
  const badge = named(`badge ${method.toLowerCase()}`, 'code', method);
  const tone = typeof status === 'number' && status < 400 ? 'good' : 'bad';
  const line = row(
    time(at),
    make('span', badge, ' ', make('code', path)),
    named(tone, 'strong', `${status} ${code ?? ''}`.trim()),
    reason ?? '',
    `${ms} ms`,
  );
  if (requestId) line.title = `X-Request-ID ${requestId}`;
  return line;
}

/** `attempt 2 failed: HTTP 500; next at 10:31:05`. A delivery that was replayed may wait with a good answer. */
function outcome({ state, status, error, attempts, next }: FeedDelivery): string {
  const isGood = error === null && status !== null && Math.floor(status / 100) === 2;
  const why = error ?? (status === null ? '' : `HTTP ${status}`);
  if (state !== 'pending')
    return [state, why && `: ${why}`, attempts > 1 && `, attempt ${attempts}`].filter(Boolean).join('');
  const before = attempts === 0 ? '' : `attempt ${attempts} ${isGood ? 'succeeded' : 'failed'}: ${why}; `;
  const isSoon = next === null || new Date(next) <= new Date();
  return `${before}${isSoon ? 'being sent' : `next at ${time(next)}`}`;
}

function toneOf({ state, attempts }: FeedDelivery): string {
  if (state === 'succeeded') return 'good';
  return attempts > 0 ? 'bad' : '';
}

function eventRow({ id, name, account, at, deliveries }: FeedEvent): HTMLElement {
  // Those that succeeded first: the receivers of samples fail for ever.
  const sorted = deliveries.toSorted(
    (one, other) => Number(toneOf(other) === 'good') - Number(toneOf(one) === 'good'),
  );
  const items = sorted.map((one) =>
    named(toneOf(one), 'li', `${one.host} …${one.subscription.slice(-6)}: ${outcome(one)}`),
  );
  const button = make('button', 'Replay') as HTMLButtonElement;
  button.setAttribute('aria-label', `Replay ${name} of ${time(at)}`);
  button.addEventListener('click', () => void replay(id, name, button));
  const line = row(
    time(at),
    make('code', name),
    account,
    items.length > 0 ? make('ul', ...items) : 'no subscription',
    items.length > 0 ? button : '',
  );
  line.dataset.id = id;
  line.title = id;
  return line;
}

async function replay(id: string, name: string, button: HTMLButtonElement): Promise<void> {
  button.disabled = true;
  const said = find('#replayed');
  try {
    const response = await fetch(`/sandbox/events/${id}/replay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    const { replayed } = (await response.json()) as { replayed?: number };
    said.textContent = replayed
      ? `${name} is delivered again.`
      : `${name} was not delivered again: the subscription is switched off.`;
  } catch {
    said.textContent = 'No response from the server.';
  } finally {
    button.disabled = false;
    button.focus();
  }
}
