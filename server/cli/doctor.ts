// `doctor`: looks for data that cannot be right. Read-only, and safe while the service runs.
import { styleText } from 'node:util';
import { Command } from 'commander';
import { programName } from '../../generated/operations.ts';
import * as domain from '../domain.ts';
import { printJson, type JsonOption } from '../kit/cli/output.ts';
import { count, withProgress } from '../kit/cli/progress.ts';
import type { Db } from '../kit/database/database.ts';
import { listAllSubscriptions } from '../kit/events/subscriptions/queries.ts';
import { visible } from '../kit/log/visible.ts';
import { describeDifference, readSecondsAhead } from '../kit/maintenance/clock.ts';
import { findBrokenInvariants, type Finding } from '../kit/maintenance/doctor.ts';
import { listSealed, type Sealed } from '../kit/secrets/reseal.ts';
import { sealedWith } from '../kit/secrets/vault.ts';
import type { Secrets } from '../open-secrets.ts';
import { withService, type Call, type OpenedService } from './service.ts';

export function makeCommand(call: Call): Command {
  return new Command('doctor')
    .addHelpText(
      'after',
      '\nChanges nothing and works while the service runs. Exit code 1 when something is wrong.',
    )
    .action(async ({ json }: JsonOption) => {
      const { findings, notes, keys } = await withProgress('Checking', () =>
        withService(call, check, { isLong: true }),
      );
      if (json) printJson({ items: findings, notes, keys });
      else printAll(findings, notes, keys);
      if (findings.some(isBroken)) process.exitCode = 1;
    });
}

async function check(service: OpenedService) {
  const { db, secrets } = service;
  const notes: string[] = [];
  for (const note of [noteSchema, noteClock, noteFailing]) notes.push(...(await note(service)));
  notes.push(...(await domain.listNotes(db)));
  const { facts, sealedColumns } = await domain.loadFacts();
  // At the same time: one is work of PostgreSQL, the other of this process.
  const [broken, unopenable] = await Promise.all([
    findBrokenInvariants(db, facts),
    findUnopenable(db, secrets, sealedColumns),
  ]);
  return { keys: secrets.keyIds(), notes, findings: [...broken, unopenable] };
}

interface Checked extends Finding {
  /** Whether the check was left out, because a secret that it needs was not given. */
  skipped?: true;
}

const isBroken = ({ broken }: Finding): boolean => broken > 0;

/** An older schema is refused: this command migrates nothing. */
const noteSchema = ({ database: { newer } }: OpenedService): string[] =>
  newer === undefined
    ? []
    : [`a newer version than this one has migrated the database (${newer}): use the command of that version`];

const noteClock = async ({ db }: OpenedService): Promise<string[]> => {
  const difference = describeDifference(await readSecondsAhead(db, () => new Date()));
  return difference === undefined ? [] : [difference];
};

const mostReceivers = 5;

/** Not a fault of the stored data: the receiver is at fault, and deliveries are retried until the subscription is switched off. */
async function noteFailing({ db }: OpenedService): Promise<string[]> {
  const failing = (await listAllSubscriptions(db)).filter((one) => one.failing_since !== null);
  const note = (those: typeof failing, what: string, then: string): string[] => {
    if (those.length === 0) return [];
    // The host alone: the rest of the URL may have a token in it.
    const named = those
      .slice(0, mostReceivers)
      .map(
        ({ id, url, failing_since }) => `${id} (${new URL(url).host}, since ${formatTime(failing_since)})`,
      );
    const more = those.length > named.length ? ` and ${those.length - named.length} more` : '';
    return [`${count(those.length, 'webhook subscription')} ${what}: ${named.join(', ')}${more}. ${then}`];
  };
  const [on, off] = [failing.filter(({ active }) => active), failing.filter(({ active }) => !active)];
  return [
    ...note(on, 'failing', `Why: ${programName} webhooks deliveries --subscription ID`),
    ...note(off, 'switched off because of failures', `After a repair: ${programName} webhooks activate ID`),
  ];
}

const formatTime = (time: Date | null): string => time?.toISOString().replace(/\.\d+Z$/, 'Z') ?? '';

async function findUnopenable(db: Db, secrets: Secrets, sealedColumns: readonly Sealed[]): Promise<Checked> {
  const finding: Finding = { check: 'everything that is sealed can be opened', broken: 0, examples: [] };
  if (secrets.missing.includes('CARD_KEY'))
    return {
      ...finding,
      skipped: true,
      note: 'not checked, because CARD_KEY (or CARD_KEY_FILE) is not given',
    };
  const { vault } = secrets;
  const missing = new Set<string>();
  await listSealed(db, sealedColumns, ({ table, sealed, binding }) => {
    try {
      vault.open(sealed, binding);
    } catch {
      finding.broken += 1;
      if (!vault.canOpen(sealedWith(sealed))) missing.add(sealedWith(sealed));
      if (finding.examples.length < 5) finding.examples.push(`${table} ${binding.id}`);
    }
  });
  if (missing.size > 0)
    return {
      ...finding,
      note: `they need key ${[...missing].join(', ')}: add it to CARD_KEY (or CARD_KEY_FILE)`,
    };
  return finding;
}

function printAll(
  findings: readonly Checked[],
  notes: readonly string[],
  keys: ReturnType<Secrets['keyIds']>,
): void {
  findings.forEach(print);
  for (const [variable, ids] of Object.entries(keys))
    if (ids.length > 0)
      console.log(`- the keys of ${variable}, the first for what is new: ${ids.join(', ')}`);
  for (const note of notes) console.log(`${styleText('yellow', '-')} ${note}`);
  const broken = findings.filter(isBroken).length;
  const skipped = findings.filter((one) => one.skipped).length;
  const made = findings.length - skipped;
  const left = skipped === 0 ? '' : ` ${skipped} ${skipped === 1 ? 'was' : 'were'} left out.`;
  console.log(
    broken === 0 ? `\nAll ${made} checks passed.${left}` : `\n${broken} of ${made} checks failed.${left}`,
  );
}

function print({ check, broken, examples, note, skipped }: Checked): void {
  const mark = skipped
    ? styleText('yellow', '-')
    : broken === 0
      ? styleText('green', '✓')
      : styleText('red', '✗');
  const verb = broken === 1 ? 'does' : 'do';
  const fault = broken === 0 ? '' : `: ${broken} ${verb} not, for example ${visible(examples.join(', '))}`;
  console.log(`${mark} ${check}${fault}${note === undefined ? '' : ` (${note})`}`);
}
