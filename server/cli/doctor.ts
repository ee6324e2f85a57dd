// `payments doctor`: looks for data that cannot be right. Read-only, and safe while the service runs.
import { styleText } from 'node:util';
import { Command } from 'commander';
import type { Vault } from '../domain/vault.ts';
import type { Db } from '../store/database.ts';
import { findBrokenInvariants, type Finding } from '../store/doctor.ts';
import { countUnbound, listSealed } from '../store/reseal.ts';
import { findSealing } from '../store/sealing.ts';
import { visible } from '../visible.ts';
import { printJson } from './output.ts';
import { count, startProgress } from './progress.ts';
import { withSecrets } from './support.ts';

export function doctor(): Command {
  return new Command('doctor')
    .option('--json', 'for programs')
    .addHelpText(
      'after',
      '\nChanges nothing and works while the service runs. Exit code 1 when something is wrong.',
    )
    .action(async ({ json = false }: { json?: boolean }) => {
      const progress = startProgress('Checking');
      const findings = await withSecrets(
        async ({ database: { db }, secrets: { vault } }) => [
          ...(await findBrokenInvariants(db)),
          await findUnopenable(db, vault),
        ],
        { readOnly: true },
      ).finally(() => {
        progress.failed();
      });
      if (json) printJson(findings);
      else for (const finding of findings) print(finding);
      if (findings.some(({ broken }) => broken > 0)) process.exitCode = 1;
    });
}

async function findUnopenable(db: Db, vault: Vault): Promise<Finding> {
  const finding: Finding = { check: 'everything that is sealed can be opened', broken: 0, examples: [] };
  const sealing = await findSealing(db);
  const { open } = vault.under(sealing);
  await listSealed(db, ({ table, sealed, place }) => {
    try {
      open(sealed, place);
    } catch {
      finding.broken += 1;
      if (finding.examples.length < 5) finding.examples.push(`${table} ${place.id}`);
    }
  });
  if (sealing === 'bound') return finding;
  const left = count(await countUnbound(db));
  const note =
    sealing === 'unbound'
      ? `new values are not bound to their rows, nor are ${left}: run payments secrets rotate`
      : `a rotation is not finished, ${left} are not bound to their rows: run payments secrets rotate`;
  return { ...finding, note };
}

function print({ check, broken, examples, note }: Finding): void {
  const mark = broken === 0 ? styleText('green', '✓') : styleText('red', '✗');
  console.log(
    `${mark} ${check}${broken === 0 ? '' : `: not so for ${broken}, such as ${visible(examples.join(', '))}`}${note === undefined ? '' : ` (${note})`}`,
  );
}
