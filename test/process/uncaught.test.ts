// An error that nobody handles, such as a rejected promise that a provider forgot to await: it ends the process, and what it quotes is
// in no output.
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { signToken } from '../../server/kit/access/token.ts';
import { createCaller } from '../support/call.ts';
import { newDataDir } from '../support/data-dir.ts';
import { createTestDatabase } from '../support/database.ts';
import { showsCode } from '../support/digits.ts';
import { keyIn } from '../support/keys.ts';
import { createPayments, startServer } from '../support/processes.ts';

const number = '4242424242424242';
const code = '9876';
const card = { method: 'card', number, expiration_date: '12/39', security_code: code };

/** Their verifier says yes, and leaves `forgotten` behind. */
const forgets = (forgotten: string) => `
  export const verifyCard = async ({ number, security_code }) => {
    const quoted = number + ' ' + security_code + ' words of the issuer';
    ${forgotten}
    return { status: 'processing' };
  };`;
const rejected = `
  const message = 'refused ' + quoted + '\\n    at ' + quoted + ' (file:///' + quoted + '.js:1:1)\\n    at end';
  Promise.reject(Object.assign(new TypeError(message, { cause: new Error(quoted) }), { number, code: quoted }));`;

async function start(forgotten: string) {
  const dataDir = await newDataDir();
  const PROVIDERS = join(dirname(dataDir.path), 'providers.mjs');
  await writeFile(PROVIDERS, forgets(forgotten));
  const env = { DATA_DIR: dataDir.path, DATABASE_URL: await createTestDatabase(), PROVIDERS };
  const server = await startServer(env);
  const token = signToken(keyIn(dataDir.path), ['*.write'], 3600);
  return {
    env,
    server,
    // The process may end before it answers.
    store: () =>
      createCaller(server.url)('POST', '/payment-methods', { token, body: card }).catch(() => undefined),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await dataDir[Symbol.asyncDispose]();
    },
  };
}

const expectNothingIn = (output: string) => {
  expect(output).not.toContain(number);
  expect(output).not.toContain('words of the issuer');
  expect(showsCode(output, code)).toBe(false);
};

describe('an error that nobody handles', () => {
  it.each([
    ['a rejected promise', rejected, 'TypeError'],
    ['a rejected promise without an error', 'Promise.reject(quoted);', 'string'],
    [
      'an object that is thrown',
      'setImmediate(() => { throw { message: quoted, stack: quoted }; });',
      'Object',
    ],
    [
      'an error whose message was changed',
      `
      const error = new Error('x\\n    at ' + quoted + ' (file:///x.js:1:1)');
      error.message = 'x';
      Promise.reject(error);`,
      'Error',
    ],
  ])(
    '%s ends the service with 1, and the log has its type and place, not its words',
    async (_name, forgotten, type) => {
      await using running = await start(forgotten);
      await running.store();
      const { status, output, stdout } = await running.server.child.ended;
      expect(status).toBe(1);
      expectNothingIn(output);
      const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
      expect(last).toMatchObject({ level: 60, msg: 'the service ends: nobody handled an error', type });
      if (forgotten === rejected) expect(last.stack).toMatch(/^ {4}at .*verifyCard .*providers\.mjs:\d+:\d+/);
    },
  );

  it('ends a command with 1, and standard error has its type and place, not its words', async () => {
    await using running = await start('');
    await running.store();
    await writeFile(running.env.PROVIDERS, forgets(rejected));
    const { status, output, stderr } = await createPayments(running.env)([
      'payment-methods',
      'verify',
      '--processing',
    ]);
    expect(status).toBe(1);
    expectNothingIn(output);
    expect(stderr).toMatch(/^Unexpected error: TypeError\n {4}at .*verifyCard .*providers\.mjs:\d+:\d+/);
  });
});
