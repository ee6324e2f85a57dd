// The landing page: asks for news while someone looks, and writes them into two tables. Everything from outside is text.
import type { ShownDelivery, Feed, Listed, ShownEvent } from '../../../server/http/desk/feed.ts';
import { find } from './find.ts';

const everyMilliseconds = 1500;
const mostRows = 100;

addEventListener('DOMContentLoaded', () => {
  let after = 0;
  let shownEvents = '';
  const requests = find('#requests');
  const events = find('#events');

  const show = (feed: Feed) => {
    find('#kind').textContent = feed.kind === 'mock' ? 'Mock' : 'Sandbox';
    for (const text of document.querySelectorAll<HTMLElement>('[data-kind]'))
      text.hidden = text.dataset.kind !== feed.kind;
    document.title = document.title.replace(/^\w+/, feed.kind === 'mock' ? 'Mock' : 'Sandbox');
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

function make(tag: string, text = '', className = ''): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  element.className = className;
  return element;
}

const time = (at: string) => new Date(at).toLocaleTimeString();

function row(cells: (string | Node)[]): HTMLTableRowElement {
  const line = document.createElement('tr');
  for (const content of cells) {
    const cell = document.createElement('td');
    cell.append(content);
    line.append(cell);
  }
  return line;
}

function requestRow({ at, method, path, status, code, reason, ms, requestId }: Listed): HTMLTableRowElement {
  const request = make('span');
  request.append(make('code', method, `badge ${method.toLowerCase()}`), ' ', make('code', path));
  const isGood = typeof status === 'number' && status < 400;
  const line = row([
    time(at),
    request,
    make('strong', code ? `${status} ${code}` : String(status), isGood ? 'good' : 'bad'),
    reason ?? '',
    `${ms} ms`,
  ]);
  line.children[3]?.classList.add('wide');
  if (requestId) line.title = `X-Request-ID ${requestId}`;
  return line;
}

/** `attempt 2 failed: HTTP 500; next at 10:31:05`. A delivery that was replayed may wait with a good answer. */
function outcome({ state, status, error, attempts, next }: ShownDelivery): string {
  const isGood = error === null && status !== null && Math.floor(status / 100) === 2;
  const why = error ?? (status === null ? '' : `HTTP ${status}`);
  if (state !== 'pending')
    return [state, why && `: ${why}`, attempts > 1 && `, attempt ${attempts}`].filter(Boolean).join('');
  const before = attempts === 0 ? '' : `attempt ${attempts} ${isGood ? 'succeeded' : 'failed'}: ${why}; `;
  const isSoon = next === null || new Date(next) <= new Date();
  return `${before}${isSoon ? 'being sent' : `next at ${time(next)}`}`;
}

const toneOf = ({ state, attempts }: ShownDelivery): string => {
  if (state === 'pending') return attempts > 0 ? 'waiting' : '';
  return state === 'succeeded' ? 'good' : 'bad';
};

/**
 * Equal outcomes at a host together, the soonest first in each group, and good ones before others: the receivers of the
 * samples fail for ever, and would hide one's own.
 */
function grouped(deliveries: ShownDelivery[]): ShownDelivery[][] {
  const groups = new Map<string, ShownDelivery[]>();
  const soonest = [...deliveries].sort((one, other) => ((one.next ?? '') < (other.next ?? '') ? -1 : 1));
  for (const delivery of soonest) {
    const { host, state, status, error, attempts } = delivery;
    const key = JSON.stringify([host, state, status, error, attempts]);
    groups.set(key, [...(groups.get(key) ?? []), delivery]);
  }
  const isGood = ([first]: ShownDelivery[]) => first?.state === 'succeeded';
  return [...groups.values()].sort((one, other) => Number(isGood(other)) - Number(isGood(one)));
}

function eventRow({ id, name, account, at, deliveries }: ShownEvent): HTMLTableRowElement {
  const list = make('ul');
  for (const group of grouped(deliveries)) {
    const [first, ...others] = group;
    if (!first) continue;
    const which = others.length > 0 ? `× ${group.length}` : `…${first.subscription.slice(-6)}`;
    const item = make('li', `${first.host} ${which}: ${outcome(first)}`, toneOf(first));
    item.title = group.map(({ subscription }) => subscription).join('\n');
    list.append(item);
  }
  const button = make('button', 'Replay') as HTMLButtonElement;
  button.type = 'button';
  button.setAttribute('aria-label', `Replay ${name} of ${time(at)}`);
  button.addEventListener('click', () => void replay(id, name, button));
  const line = row([
    time(at),
    make('code', name),
    account,
    deliveries.length > 0 ? list : 'no subscription',
    deliveries.length > 0 ? button : '',
  ]);
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
      ? `${name} is delivered again to ${replayed === 1 ? 'its subscription' : `${replayed} subscriptions`}.`
      : `${name} was not delivered again: the subscription is switched off.`;
  } catch {
    said.textContent = 'No response from the server.';
  } finally {
    button.disabled = false;
    button.focus();
  }
}
