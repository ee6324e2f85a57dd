// `payments transactions show ID --history`, and that of `payment-methods`: what happened to one record, in the order of time.
import { withService, type Call } from '../cli/service.ts';
import { printRows, type JsonOption } from '../kit/cli/output.ts';
import type { Db } from '../kit/database/database.ts';
import { listDeliveries, listEventsOf, type EventTarget } from '../kit/events/delivery-list.ts';
import { listAuditEntries } from '../kit/maintenance/audit.ts';

const mostRows = 1_000;

interface Shown extends EventTarget {
  buyer_id: string | null;
  status: string;
  updated_at: Date;
  /** Of a transaction: why it was declined or failed. */
  raw_response_code?: string | null;
  raw_response_description?: string | null;
  /** Of a card: why the verifier failed. */
  verification_error?: string | null;
  /** Of a card: null when it is erased. */
  expiration_date?: string | null;
}

export const historyOption = [
  '--history',
  'show instead what happened to it, oldest first: its events, their deliveries, and what operators did',
] as const;

export async function printHistory(
  call: Call,
  id: string,
  output: JsonOption,
  find: (db: Db, id: string) => Promise<Shown | undefined>,
  missing: (id: string) => Error,
): Promise<void> {
  const rows = await withService(
    call,
    async ({ db }) => {
      const found = await find(db, id);
      if (!found) throw missing(id);
      return historyOf(db, found);
    },
    // An account may have millions of events.
    { isLong: true },
  );
  printRows(rows, output, '');
}

async function historyOf(db: Db, record: Shown) {
  const events = await listEventsOf(db, record, mostRows);
  const deliveries = await listDeliveries(db, { record }, mostRows);
  const { id, buyer_id: buyer } = record;
  const erasures = (await commandsAbout(db, buyer === null ? [] : [buyer])).filter(({ command }) =>
    command.startsWith('buyers erase'),
  );
  const commands = [...(await commandsAbout(db, [id, ...events.map((event) => event.id)])), ...erasures];
  const isTold = events.some(({ name }) => name.endsWith('.created'));
  const unknown = isTold
    ? ''
    : erasures.length > 0
      ? '; its events were erased with the buyer'
      : record.expiration_date === null
        ? '; it was erased, and its events with it'
        : '; no event of it is kept: imported, sample data, or too old';
  const happened = [
    row(record.created_at, 'created', `in the account ${record.merchant_account_id}${unknown}`, id),
    ...(record.verification_error
      ? [row(record.created_at, 'card verifier failed', record.verification_error, id)]
      : []),
    ...events.map((event) => row(event.created_at, event.name, event.status, event.id)),
    ...deliveries.flatMap(({ attempts, url, event_id }) =>
      attempts.map(({ at, number, status, error, answer }) => {
        const result = [error ?? `HTTP ${status}`, answer].filter(Boolean).join(': ');
        return row(at, `attempt ${number} to ${new URL(url).host}`, result, event_id);
      }),
    ),
    ...commands.map(({ at, operator, host, command }) => {
      // Short, because the operator knows which record it is.
      const what = command.replaceAll(id, 'ID').replaceAll(buyer ?? id, 'BUYER');
      return row(at, what, `by ${operator} on ${host}`, null);
    }),
  ].sort((one, other) => one.at.getTime() - other.at.getTime());
  const why = [record.raw_response_code, record.raw_response_description].filter(Boolean).join(' ');
  const now = why === '' ? record.status : `${record.status}: ${why}`;
  return [...happened, row(record.updated_at, 'status now', now, id)];
}

const row = (at: Date, what: string, result: string | null, id: string | null) => ({ at, what, result, id });

const commandsAbout = (db: Db, search: readonly string[]) =>
  listAuditEntries(db, { search, limit: mostRows });
