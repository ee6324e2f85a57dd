// `payments doctor`: looks for data that cannot be right. Read-only, and safe while the service runs.
import { styleText } from 'node:util';
import { Command } from 'commander';
import type { Db } from '../database/database.ts';
import { forOperator } from '../installation.ts';
import { listWebhookSubscriptions } from '../resources/webhook-subscriptions/queries.ts';
import type { Secrets } from '../secrets/open.ts';
import { listSealed } from '../secrets/reseal.ts';
import { sealedWith } from '../secrets/vault.ts';
import { describeDifference, readSecondsAhead } from '../upkeep/clock.ts';
import { findBrokenInvariants, type Finding } from '../upkeep/doctor.ts';
import { listErasures } from '../upkeep/erasure-queries.ts';
import { visible } from '../visible.ts';
import { printJson, type JsonOption } from './output.ts';
import { count, withProgress } from './progress.ts';
import { withService, type OpenedService } from './service.ts';

export function makeCommand(): Command {
  return new Command('doctor')
    .addHelpText(
      'after',
      '\nChanges nothing and works while the service runs. Exit code 1 when something is wrong.',
    )
    .action(async ({ json }: JsonOption) => {
      const { findings, notes } = await withProgress('Checking', () => withService(check, { isLong: true }));
      const named = findings.map((one) =>
        one.note === undefined ? one : { ...one, note: forOperator(one.note) },
      );
      if (json) printJson({ items: named, notes });
      else printAll(named, notes);
      if (findings.some(isBroken)) process.exitCode = 1;
    });
}

const check = async ({ db, secrets }: OpenedService) => ({
  notes: [...(await noteClock(db)), ...(await noteFailing(db)), ...(await noteErasures(db))],
  findings: [...(await findBrokenInvariants(db)), await findUnopenable(db, secrets)],
});

interface Checked extends Finding {
  /** Whether the check was left out, because a secret that it needs was not given. */
  skipped?: true;
}

const isBroken = ({ broken }: Finding): boolean => broken > 0;

const noteClock = async (db: Db): Promise<string[]> => {
  const difference = describeDifference(await readSecondsAhead(db, () => new Date()));
  return difference === undefined ? [] : [difference];
};

/** Not a fault of the stored data: the receiver is at fault, and deliveries are retried. */
async function noteFailing(db: Db): Promise<string[]> {
  const failing = (await listWebhookSubscriptions(db)).filter(
    (one) => one.active && one.failing_since !== null,
  );
  if (failing.length === 0) return [];
  const are = failing.length === 1 ? 'is' : 'are';
  return [`${count(failing.length, 'webhook subscription')} ${are} failing, see: payments webhooks list`];
}

const noteErasures = async (db: Db): Promise<string[]> =>
  (await listErasures(db)).map((command) => `an erasure was interrupted, run: payments ${command}`);

async function findUnopenable(db: Db, secrets: Secrets): Promise<Checked> {
  const finding: Finding = { check: 'everything that is sealed can be opened', broken: 0, examples: [] };
  if (secrets.missing.includes('CARD_KEY'))
    return { ...finding, skipped: true, note: 'not checked, because CARD_KEY is not given' };
  const { vault } = secrets;
  const missing = new Set<string>();
  await listSealed(db, ({ table, sealed, binding }) => {
    try {
      vault.open(sealed, binding);
    } catch {
      finding.broken += 1;
      if (!vault.canOpen(sealedWith(sealed))) missing.add(sealedWith(sealed));
      if (finding.examples.length < 5) finding.examples.push(`${table} ${binding.id}`);
    }
  });
  if (missing.size > 0)
    return { ...finding, note: `they need key ${[...missing].join(', ')}: add it to CARD_KEY` };
  return finding;
}

function printAll(findings: readonly Checked[], notes: readonly string[]): void {
  findings.forEach(print);
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
