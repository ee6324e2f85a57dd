/**
 * `payments-service/testing`: a sandbox for tests, with a database of its own, on a free port.
 *
 * ```ts
 * import { startSandbox } from 'payments-service/testing';
 *
 * const sandbox = await startSandbox();
 * ```
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { programName, type EventName, type EventPayload } from '../generated/operations.ts';
import { startProgram } from './child.ts';
import { startReceiver, type NextEventOptions, type WebhookEvent } from './receiver.ts';
import { removeData } from './remove-data.ts';
import { createTokens, type Scope } from './token.ts';

export type { NextEventOptions, WebhookEvent };

export interface SandboxOptions {
  /** By default any free one. */
  port?: number | undefined;
}

export interface Sandbox {
  url: string;
  /** The private key of its key pair, which has the role `administrator`. */
  keyFile: string;
  /** For the command line: `DATA_DIR=… payments transactions list`. */
  dataDir: string;
  /** An access token for an hour. Without scopes: `*.read` and `*.write`. */
  token: (...scopes: Scope[]) => Promise<string>;
  /** Makes everything as just started, at the same URL. Tokens stay valid. */
  reset: () => Promise<void>;
  /**
   * The oldest event of this name, or of any, that nobody has asked for since the start or the last reset; otherwise the next one.
   * It was delivered to a receiver inside, and its signature is verified.
   */
  nextEvent: {
    <Name extends EventName>(
      name: Name,
      options?: NextEventOptions<EventPayload<Name>>,
    ): Promise<EventPayload<Name>>;
    (name?: undefined, options?: NextEventOptions): Promise<WebhookEvent>;
  };
  close: () => Promise<void>;
}

/** Ready when it resolves. It ends with this process, if nobody closes it before. */
export async function startSandbox({ port = 0 }: SandboxOptions = {}): Promise<Sandbox> {
  if (process.versions.pnp !== undefined)
    throw new Error(
      "The sandbox does not run with Yarn Plug'n'Play: set `nodeLinker: node-modules` in .yarnrc.yml, and run `yarn install`.",
    );
  const args = ['start', '--json', '--data', 'temporary', '--port', String(port)];
  const program = await startProgram<{ url: string; key_file: string; data_dir: string }>(command, args);
  const { url, key_file: keyFile, data_dir: dataDir } = program.facts;
  const token = createTokens(readFileSync(keyFile, 'utf8'));
  const receiver = await startReceiver();
  const subscribe = async () => {
    const { secret } = await createSubscription(
      url,
      await token('webhook-subscriptions.write'),
      receiver.url,
    );
    receiver.expect(secret);
  };
  const cleaned = program.ended.then(async (why) => {
    receiver.close(`The sandbox has ended. ${why}`);
    await clean(dataDir);
  });
  const close = async () => {
    receiver.close('The sandbox was closed.');
    await program.close();
    await cleaned;
  };
  try {
    await subscribe();
  } catch (error) {
    await close();
    throw error;
  }
  let resetting = Promise.resolve();
  const reset = async () => {
    receiver.forget('The sandbox was reset.');
    await program.ask('reset');
    await subscribe();
  };
  const nextEvent = (name?: string, options: NextEventOptions = {}) => receiver.next(name, options);
  return {
    ...{ url, keyFile, dataDir, token, close },
    reset: () => {
      // One after the other.
      resetting = resetting.catch(() => undefined).then(reset);
      return resetting;
    },
    nextEvent,
  };
}

const command = join(__dirname, `../bin/${programName}.js`);

/** For a sandbox that was killed, such as by a system without memory, and could not stop its database. */
async function clean(dataDir: string): Promise<void> {
  if (!existsSync(dataDir)) return;
  // Any command stops a database that nobody else uses. If it fails, PostgreSQL ends when it misses its folder.
  const call = promisify(execFile)(process.execPath, [command, 'accounts', 'list'], {
    env: { DATA_DIR: dataDir },
  });
  await call.catch(() => undefined);
  removeData(dataDir);
}

/** Not with `fetch`, which tests replace. */
async function createSubscription(
  base: string,
  token: string,
  receiver: string,
): Promise<{ secret: string }> {
  const body = JSON.stringify({ url: receiver });
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'X-Service-Merchant-Account-ID': '*',
    Connection: 'close',
  };
  return new Promise((resolve, reject) => {
    const sending = request(`${base}/webhook-subscriptions`, { method: 'POST', headers }, (res) => {
      json(res).then((answer) => {
        if (res.statusCode === 201) resolve(answer as { secret: string });
        else reject(new Error(`The sandbox refused the receiver of events: ${JSON.stringify(answer)}`));
      }, reject);
    });
    sending.once('error', reject);
    sending.end(body);
  });
}
