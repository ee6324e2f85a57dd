// `payments secrets status` and `payments secrets rewrite-fingerprints`: the keys in use, and the rotation of FINGERPRINT_KEY.
import { Command } from 'commander';
import { rewriteFingerprints } from '../actions/fingerprints.ts';
import type { Fingerprints } from '../domain/fingerprints.ts';
import { countFingerprints, listUnfinished } from '../store/fingerprints.ts';
import { countSealed } from '../store/reseal.ts';
import { asResult, call, printJson, printRows, Refused, resultText } from './output.ts';
import { count, startProgress } from './progress.ts';
import { inAuditedWork, withSecrets, type ServiceParts } from './support.ts';

export const fingerprintCommands = (): Command[] => [
  asResult(new Command('status'))
    .description(
      'list the keys of the three secrets by ID, with the stored values that need them, and accounts whose fingerprints are being rewritten',
    )
    .action(({ json }: { json?: boolean }) =>
      withSecrets((parts) => status(parts, json), { readOnly: true }),
    ),
  asResult(new Command('rewrite-fingerprints'))
    .description('make fingerprints of older keys anew, as the service does after its start and once a day')
    .option('--all', 'also those of keys that are no longer in FINGERPRINT_KEY')
    .addHelpText(
      'after',
      `
To change FINGERPRINT_KEY, create a new key (openssl rand -base64 32), and then
  1. restart every instance with FINGERPRINT_KEY=<new>,<old>
     each rewrites old fingerprints in the background
  2. run, with the same FINGERPRINT_KEY: payments secrets rewrite-fingerprints
     after the last instance was restarted; it also rewrites what the old ones
     stored meanwhile
  3. after 24 hours, restart every instance with FINGERPRINT_KEY=<new>
For these 24 hours the old key recognises repeated requests with an Idempotency-Key, and card numbers that count for the
limit on storing cards. Cards, snapshots in transactions and stored events are rewritten without events and without a new
updated_at; where the card is not known, a fingerprint becomes null.
If the command is interrupted, run it again: it continues where it stopped.`,
    )
    .action((options: RewriteOptions) => withSecrets((parts) => rewrite(parts, options))),
];

async function status({ database: { db }, secrets }: ServiceParts, json?: boolean): Promise<void> {
  // First, because it names all secrets that are missing.
  const given = secrets.keyIds();
  const { fingerprints } = secrets;
  const counts = [...(await countFingerprints(db))];
  const fingerprinted = new Map(counts.flatMap(([id, cards]) => (id === null ? [] : [[id, cards] as const])));
  const shown = {
    keys: [
      ...keysOf('CARD_KEY', given.CARD_KEY, await countSealed(db)),
      ...keysOf('FINGERPRINT_KEY', given.FINGERPRINT_KEY, fingerprinted),
      // Nothing that is stored needs it.
      ...given.CURSOR_KEY.map((id, index) => ({ variable: 'CURSOR_KEY', position: index + 1, id })),
    ],
    fingerprints: counts.map(([version, cards]) => ({
      version,
      made_with: nameOf(version, fingerprints),
      cards,
    })),
    unfinished_accounts: await listUnfinished(db),
  };
  if (json) {
    printJson(shown);
    return;
  }
  printRows(shown.keys, {}, { whenEmpty: 'There is no key.' });
  console.log('');
  printRows(shown.fingerprints, {}, { whenEmpty: 'There is no fingerprint.' });
  console.log('');
  printRows(shown.unfinished_accounts, {}, { whenEmpty: 'No account has fingerprints to rewrite.' });
}

/** Those that are given, then those that stored values need and that are missing: their position is null. */
function keysOf(variable: string, given: readonly string[], used: ReadonlyMap<string, number>) {
  const missing = [...used.keys()].filter((id) => !given.includes(id));
  return [
    ...given.map((id, index) => ({ variable, position: index + 1, id, values: used.get(id) ?? 0 })),
    ...missing.map((id) => ({ variable, position: null, id, values: used.get(id) })),
  ];
}

function nameOf(version: string | null, { version: current, older }: Fingerprints): string {
  if (version === null) return 'one key for all accounts, before 1.2';
  if (version === current) return 'the first FINGERPRINT_KEY';
  return older.includes(version) ? 'an older FINGERPRINT_KEY' : 'a key that is not in FINGERPRINT_KEY';
}

interface RewriteOptions {
  all?: boolean;
  json?: boolean;
}

async function rewrite(
  { database: { db }, secrets }: ServiceParts,
  { all = false, json }: RewriteOptions,
): Promise<void> {
  const progress = startProgress('Rewriting fingerprints');
  try {
    await inAuditedWork(db, () => Promise.resolve(true));
    const { version: current } = secrets.fingerprints;
    const versions = [...(await countFingerprints(db)).keys()].filter(
      (one) => one !== null && one !== current,
    );
    const faults: string[] = [];
    const done = await rewriteFingerprints(db, secrets, {
      otherVersions: all ? versions.filter((one) => one !== null) : [],
      onProgress: ({ account, phase, rewritten }) => {
        progress.update(`Rewriting fingerprints: ${count(rewritten)} records, ${phase} of ${account}`);
      },
      onFault: (card) => faults.push(card),
      isStopping: () => false,
    });
    if (done === undefined) throw new Refused('The service, or another command, is rewriting them now.');
    if (faults.length > 0)
      throw new Refused(
        `The numbers of ${count(faults.length, 'card')} cannot be opened, such as that of ${faults[0] ?? ''}. See: ${call('doctor')}`,
      );
    const sentence = `Rewrote ${count(done, 'record')}. See: ${call('secrets status')}`;
    progress.done(resultText(json, { rewritten: done }, sentence));
  } catch (error) {
    progress.failed();
    throw error;
  }
}
