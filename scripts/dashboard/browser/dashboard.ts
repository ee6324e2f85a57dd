// The landing page: asks for news while someone looks, and writes them into one list. Everything from outside is text.
import type { Feed, FeedDelivery, FeedEvent, FeedRequest } from '../../../server/kit/http/dashboard/feed.ts';
import { copyOnClick } from '../../docs/browser/copy.ts';
import { find, make } from '../../docs/browser/elements.ts';
import { offerAnswers } from './answers.ts';
import { connectButtons } from './try.ts';

const everyMilliseconds = 1500;
const mostRows = 100;

addEventListener('DOMContentLoaded', () => {
  let after = 0;
  let hasAnswers = false;
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
    if (after === 0) for (const old of rowsOf('request')) old.remove();
    // A button may have asked at the same time.
    const unseen = feed.requests.filter(({ number }) => number > after);
    for (const request of unseen) place(requestRow(request), request.at);
    for (const old of rowsOf('request').slice(mostRows)) old.remove();
    after = unseen.at(-1)?.number ?? after;
    if (feed.events) showEvents(feed.events);
    else if (!hasAnswers) void offerAnswers();
    hasAnswers = true;
    find('#happened')
      .closest('section')
      ?.toggleAttribute('hidden', rowsOf('*').length === 0);
  };

  const ask = async () => {
    try {
      const response = await fetch(`/sandbox/feed?after=${after}`);
      if (!response.ok) throw new Error(String(response.status));
      const feed = (await response.json()) as Feed;
      if (feed.last < after) {
        // The server was started again meanwhile, and its numbers begin anew.
        after = 0;
        await ask();
      } else show(feed);
    } catch {
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
  connectButtons(() => void ask());
  void goOn();
});

const rowsOf = (kind: 'request' | 'event' | '*') => [
  ...document.querySelectorAll<HTMLElement>(`#happened > ${kind === '*' ? kind : `.${kind}`}`),
];

/** Newest first. A request is noted when it ends, so it stands above the event that it causes. */
function place(line: HTMLElement, at: string): void {
  line.dataset.at = at;
  const next = rowsOf('*').find((other) => (other.dataset.at ?? '') <= at);
  find('#happened').insertBefore(line, next ?? null);
}

/** Only if it is new: a screen reader speaks every change. */
function setText(selector: string, text: string): void {
  const element = find(selector);
  if (element.textContent !== text) element.textContent = text;
}

const time = (at: string) => new Date(at).toLocaleTimeString();

/** `name` is its class: a method, or how it ended. */
function named(name: string, tag: string, ...content: (string | Node)[]): HTMLElement {
  const element = make(tag, ...content);
  element.className = name;
  return element;
}

/** A line that opens to what else is known. */
const row = (kind: 'request' | 'event', summary: (string | Node)[], ...details: Node[]) =>
  named(kind, 'li', make('details', make('summary', ...summary), ...details));

const facts = (...pairs: [name: string, value: string | Node | undefined][]) =>
  make(
    'dl',
    ...pairs.flatMap(([name, value]) => (value === undefined ? [] : [make('dt', name), make('dd', value)])),
  );

function requestRow({
  at,
  method,
  path,
  query,
  status,
  code,
  reason,
  ms,
  requestId,
  operation,
}: FeedRequest): HTMLElement {
  const isGood = typeof status === 'number' && status < 400;
  return row(
    'request',
    [
      named('hint', 'span', time(at)),
      named(`badge ${method.toLowerCase()}`, 'span', method),
      make('code', path),
      named(isGood ? 'good' : 'bad', 'strong', `${status} ${code ?? ''}`.trim()),
      named('hint', 'span', `${ms} ms`),
    ],
    facts(
      ['Reason', reason],
      ['Query', query && make('code', query)],
      ['Operation', operation && operationLink(operation)],
      ['Request ID', requestId && copied(requestId)],
    ),
  );
}

function operationLink(id: string): Node | string {
  const places = JSON.parse(find('#content').dataset.operations ?? '{}') as Record<string, string>;
  if (places[id] === undefined) return id;
  const link = make('a', id) as HTMLAnchorElement;
  link.href = `/docs/${places[id]}`;
  return link;
}

function copied(text: string): Node {
  const button = make('button', 'Copy');
  copyOnClick(button, () => text);
  return make('span', make('code', text), ' ', button);
}

/** `attempt 2 failed: HTTP 500; next at 10:31:05`. A delivery that was sent again may wait with a good answer. */
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

/** Rows of events that did not change stay as they are. Those that did stay open, and keep the focus. */
function showEvents(events: FeedEvent[]): void {
  const shown = new Map(rowsOf('event').map((one) => [one.dataset.id, one]));
  for (const event of events) {
    const text = JSON.stringify(event);
    const old = shown.get(event.id);
    shown.delete(event.id);
    if (old?.dataset.text === text) continue;
    const line = eventRow(event);
    line.dataset.id = event.id;
    line.dataset.text = text;
    if (old?.querySelector('details')?.open) line.querySelector('details')?.setAttribute('open', '');
    const focused = old?.contains(document.activeElement) ? document.activeElement?.tagName : undefined;
    old?.remove();
    place(line, event.at);
    if (focused) line.querySelector<HTMLElement>(focused)?.focus();
  }
  for (const gone of shown.values()) gone.remove();
}

function eventRow({ id, name, account, at, payload, deliveries }: FeedEvent): HTMLElement {
  // Those that succeeded first: the receivers of samples fail for ever.
  const sorted = deliveries.toSorted(
    (one, other) => Number(toneOf(other) === 'good') - Number(toneOf(one) === 'good'),
  );
  const succeeded = deliveries.filter(({ state }) => state === 'succeeded').length;
  const items = sorted.map((one) =>
    make(
      'li',
      named(toneOf(one), 'span', `${one.host} …${one.subscription.slice(-6)}: ${outcome(one)}`),
      ...(one.answer ? [named('hint', 'div', `It answered: ${one.answer}`)] : []),
    ),
  );
  const button = make('button', 'Send again') as HTMLButtonElement;
  button.addEventListener('click', () => void sendAgain(id, name, button));
  return row(
    'event',
    [
      named('hint', 'span', time(at)),
      named('badge event', 'span', 'event'),
      make('code', name),
      named('hint', 'span', account),
      deliveries.length === 0
        ? named('hint', 'span', 'no subscription')
        : named(
            succeeded === deliveries.length ? 'good' : '',
            'span',
            `delivered to ${succeeded} of ${deliveries.length}`,
          ),
    ],
    ...(items.length > 0 ? [make('ul', ...items), make('p', button)] : []),
    named('code', 'div', make('pre', make('code', JSON.stringify(JSON.parse(payload), null, 2)))),
  );
}

async function sendAgain(id: string, name: string, button: HTMLButtonElement): Promise<void> {
  button.disabled = true;
  const said = find('#sent-again');
  try {
    const response = await fetch(`/sandbox/events/${id}/replay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    const { replayed } = (await response.json()) as { replayed?: number };
    said.textContent = replayed
      ? `${name} is sent again.`
      : `${name} was not sent again: the subscription is switched off.`;
  } catch {
    said.textContent = 'No response from the server.';
  } finally {
    button.disabled = false;
    button.focus();
  }
}
