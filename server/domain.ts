// Payments, as the rest of the service sees it: start, app, config and the commands that every API has import no other file of it, but the
// lists of its handlers and commands. What takes long to load is loaded when it is used, because every command reads the
// settings here.
import type { Db } from './kit/database/database.ts';
import type { UnitOfWork } from './kit/database/unit-of-work.ts';
import { path, whole, type Setting } from './kit/settings.ts';
import type { CardSecrets } from './resources/payment-methods/changes.ts';

export type { OwnDeps, OwnParts, Serving } from './serving.ts';

/** The path that `npm start` shows how to call. */
export const firstCall = '/card-scheme-definitions';

/** What `webhooks listen` shows to cause an event. */
export const firstEvent = {
  name: 'payment-method.created',
  change: 'store a card',
  path: '/payment-methods',
  scope: 'payment-methods.write',
  body: { method: 'card', number: '4111111111111111', expiration_date: '12/39' },
};

const cardsPerMinute = whole(1, 1_000_000);

export const settings = {
  CARDS_PER_MINUTE: {
    doc: 'how many cards a key pair may store per minute in a merchant account',
    format: `${cardsPerMinute.format}, or \`off\``,
    parse: (text: string) => (text === 'off' ? text : cardsPerMinute.parse(text)),
    unset: 'as the contract says in production, `off` in the sandbox',
  },
  PROVIDERS: {
    doc: 'JavaScript module with the providers of this installation: gift card balances, card verification',
    ...path,
    unset: 'simulators in the sandbox, none in production',
    guide: 'guides/providers.md',
  },
} as const satisfies Record<string, Setting>;

/** What a running service has of its own: what handlers get, limits, pages. */
export const loadServing = () => import('./serving.ts');

/** With the migrations of the kit that those of payments contain, which were released before the kit had its own. */
export const loadMigrations = async () => ({
  ...(await import('./migrations/index.ts')),
  contained: {
    'kit-0001-schema': '0001-schema',
    'kit-0002-retries': '0002-retries',
    'kit-0003-events-for-one': '0004-events-for-one',
    'kit-0004-attempts-by-time': '0006-attempts-by-time',
    'kit-0005-all-accounts': '0008-all-accounts',
  },
});

/** What metrics, daily jobs, doctor, a rotation and an erasure have to know of each table. */
export const loadFacts = () => import('./resources/facts.ts');

/** Fills the accounts that a new sandbox has just got. */
export async function addSamples(unit: UnitOfWork, accounts: readonly string[], secrets: CardSecrets) {
  const { fillAccounts } = await import('./sandbox/samples.ts');
  await fillAccounts(unit, accounts, secrets);
}

/** What an event shows, by the first part of its name: the newest record of the account, or that with this ID. */
export const loadShownRecords = async () => (await import('./sandbox/shown-records.ts')).shownRecords;

/** For an operator, who knows only the ID of a record. */
export async function findRecord(db: Db, id: string) {
  const { findTransactionOfAnyAccount } = await import('./resources/transactions/any-account.ts');
  const { findPaymentMethodOfAnyAccount } = await import('./resources/payment-methods/any-account.ts');
  return (await findTransactionOfAnyAccount(db, id)) ?? (await findPaymentMethodOfAnyAccount(db, id));
}

/** What `payments doctor` says besides its checks. */
export async function listNotes(db: Db): Promise<string[]> {
  return (await import('./resources/doctor-notes.ts')).listNotes(db);
}
