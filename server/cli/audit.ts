import { Command } from 'commander';
import { listAuditEntries } from '../store/audit.ts';
import { printRows } from './output.ts';
import { withDatabase } from './support.ts';
import { limit, time } from './values.ts';

export function audit(): Command {
  return new Command('audit')
    .option('--since <time>', 'only what was done since then', time('--since'))
    .option('--limit <number>', 'how many entries', limit(100_000), 50)
    .option('--json', 'for programs')
    .action(async ({ json, ...filter }: { since?: Date; limit: number; json?: boolean }) => {
      const rows = await withDatabase(({ db }) => listAuditEntries(db, { since: undefined, ...filter }));
      const shown = rows.map(({ at, operator, host, command }) => ({ at, operator, host, command }));
      printRows(shown, json, 'No operator has changed anything yet.');
    });
}
