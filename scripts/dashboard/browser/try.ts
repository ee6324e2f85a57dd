// The buttons of the landing page: each makes one call, and shows its request, as a command to copy, and its response.
import { copyOnClick } from '../../docs/browser/copy.ts';
import { find } from '../../docs/browser/elements.ts';

/** As the page has it in `data-call`, in JSON. */
interface Call {
  method: string;
  path: string;
  body?: object;
}

const json = { 'content-type': 'application/json' };

/** The command for the last call, with its token. The page does not show that. */
let command = '';

/** `after` is called when a call has ended. */
export function connectButtons(after: () => void): void {
  copyOnClick(find('#copy-curl'), () => command);
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-call]'))
    button.addEventListener('click', () => {
      const call = JSON.parse(button.dataset.call ?? '') as Call;
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
  const curl = (token: string) =>
    [
      `curl -X ${method} '${location.origin}${path}'`,
      `-H 'authorization: Bearer ${token}'`,
      ...Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`),
      ...(text ? [`-d '${text}'`] : []),
    ].join(' \\\n  ');
  find('#sent').textContent = curl('…');
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
    command = curl(token);
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
