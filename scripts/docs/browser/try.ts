// The buttons of the landing page: each makes one call, and shows its request and response.
import { find } from './elements.ts';

interface Call {
  method: string;
  path: string;
  body?: object;
}

const calls: Record<string, Call> = {
  listTransactions: { method: 'GET', path: '/transactions?limit=3' },
  createPaymentMethod: {
    method: 'POST',
    path: '/payment-methods',
    body: { method: 'card', number: '4111111111111111', expiration_date: '12/39', security_code: '123' },
  },
};

const json = { 'content-type': 'application/json' };

/** `after` is called when a call has ended. */
export function connectButtons(after: () => void): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-call]'))
    button.addEventListener('click', () => {
      const call = calls[button.dataset.call ?? ''];
      if (!call) return;
      button.disabled = true;
      void show(call).finally(() => {
        button.disabled = false;
        button.focus();
        after();
      });
    });
}

async function show({ method, path, body }: Call): Promise<void> {
  const text = body && JSON.stringify(body, null, 2);
  const key = body && { 'idempotency-key': crypto.randomUUID() };
  const headers = { ...key, ...(body && json) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  find('#sent').textContent = [
    `${method} ${path}`,
    'authorization: Bearer …',
    ...lines,
    ...(text ? ['', text] : []),
  ].join('\n');
  const received = find('#received');
  received.textContent = 'Waiting…';
  find('#exchange').hidden = false;
  try {
    const given = await fetch('/sandbox/token', { method: 'POST', headers: json });
    const { token } = (await given.json()) as { token?: string };
    if (token === undefined) {
      received.textContent =
        'The server gives tokens only to programs of its own user: see the command for a terminal.';
      return;
    }
    const response = await fetch(path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(text && { body: text }),
    });
    const answer: unknown = await response.json();
    received.textContent = [
      `${response.status} ${response.statusText}`,
      `x-request-id: ${response.headers.get('x-request-id')}`,
      '',
      JSON.stringify(answer, null, 2),
    ].join('\n');
  } catch {
    received.textContent = 'No response from the server.';
  }
}
