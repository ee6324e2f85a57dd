// The sandbox's console gives tokens to the user who runs it, and to no other user of the machine.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service[Symbol.asyncDispose]());

/** The status, of a request with all headers that the page sends. */
async function ask(path: string, method: string, url: string, user: string[] = []): Promise<string> {
  const headers = [`Origin: ${url}`, 'Content-Type: application/json', 'Sec-Fetch-Site: same-origin'];
  const args = [
    '-s',
    '-o',
    '/dev/null',
    '-w',
    '%{http_code}',
    '-X',
    method,
    ...headers.flatMap((one) => ['-H', one]),
  ];
  const [program, ...words] = [...user, 'curl', ...args, `${url}${path}`];
  return (await run(program, words)).stdout;
}

const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];

it.each([
  ['POST', '/sandbox/token'],
  ['GET', '/sandbox/feed'],
])('%s %s is for programs of our own user', async (method, path) => {
  expect(await ask(path, method, service.url)).toBe('200');
});

it.skipIf(process.getuid?.() !== 0)(
  'another user of this machine gets neither a token nor data',
  async () => {
    expect(await ask('/sandbox/token', 'POST', service.url, nobody)).toBe('404');
    expect(await ask('/sandbox/feed', 'GET', service.url, nobody)).toBe('404');
  },
);
