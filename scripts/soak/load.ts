// Mixed load: good callers that store cards and remember what was acknowledged, bad requests, and hostile connections.
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';

const card = { method: 'card', number: '4111111111111111', expiration_date: '12/39', security_code: '737' };
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export function startLoad(url: string, token: string) {
  /** External identifier → ID, as the service acknowledged it. */
  const acknowledged = new Map<string, string>();
  /** By status; `lost` when there was none. */
  const answers: Record<string, number> = {};
  /** Answers that a good caller must never get. */
  const faults: string[] = [];
  let over = false;

  const call = async (method: string, path: string, body?: unknown) => {
    try {
      const response = await fetch(url + path, {
        method,
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(20_000),
      });
      const text = await response.text();
      answers[response.status] = (answers[response.status] ?? 0) + 1;
      return { status: response.status, body: JSON.parse(text) as { id?: string; resource_id?: string } };
    } catch {
      answers.lost = (answers.lost ?? 0) + 1;
      return undefined;
    }
  };
  const expectStatus = (answer: { status: number } | undefined, what: string, ...statuses: number[]) => {
    if (answer && !statuses.includes(answer.status)) faults.push(`${what}: ${answer.status}`);
  };

  // Asks again until it knows, as a client does: 409 after a lost answer names the record.
  const storeCards = async () => {
    const external_identifier = `soak-${randomUUID()}`;
    let last: number | undefined;
    for (const end = Date.now() + 120_000; Date.now() < end;) {
      const answer = await call('POST', '/payment-methods', { ...card, external_identifier });
      expectStatus(answer, 'storing a card', 201, 409, 504);
      const id = answer?.status === 201 ? answer.body.id : answer?.body.resource_id;
      if (id) {
        acknowledged.set(external_identifier, id);
        return;
      }
      last = answer?.status;
      await pause(200);
    }
    faults.push(`storing a card: not within two minutes, at last ${last ?? 'no answer'}`);
  };
  const tasks: (() => Promise<unknown>)[] = [
    storeCards,
    storeCards,
    async () => {
      expectStatus(await call('GET', '/transactions?limit=50&currency=USD'), 'listing', 200, 504);
    },
    async () => {
      const items = [{ number: '9999000050001234', pin: '1111' }];
      expectStatus(await call('POST', '/gift-cards/balances', { items }), 'balances', 200, 504);
    },
    async () => {
      const unknown = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`p${n}`, 1]));
      expectStatus(await call('POST', '/payment-methods', unknown), 'a bad request', 400, 504);
    },
    () => floodAndLeave(url),
    () => hangUpHalfway(url),
  ];
  const running = tasks.map(async (task) => {
    while (!over) {
      await task();
      await pause(20);
    }
  });
  return {
    acknowledged,
    answers,
    faults,
    async stop() {
      over = true;
      await Promise.all(running);
    },
    /** Cards that were acknowledged and are not stored: storing one again must be refused with 409, which names the record. */
    async findLost() {
      const lost: string[] = [];
      const left = acknowledged.entries();
      const check = async () => {
        for (const [external_identifier, id] of left) {
          const answer = await call('POST', '/payment-methods', { ...card, external_identifier });
          if (answer?.body.resource_id !== id) lost.push(external_identifier);
        }
      };
      await Promise.all([check(), check(), check(), check()]);
      return lost;
    },
  };
}

/** Sends many requests at once and reads none of the answers. */
const floodAndLeave = (url: string) =>
  hostile(url, 'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(500));

const hangUpHalfway = (url: string) =>
  hostile(url, 'POST /payment-methods HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{"number"');

const hostile = (url: string, text: string) =>
  new Promise<void>((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => {
      socket.write(text);
      socket.pause();
    });
    socket
      .on('error', () => undefined)
      .once('close', () => {
        resolve();
      });
    setTimeout(() => socket.destroy(), 2_000);
  });
