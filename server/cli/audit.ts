import { Command } from 'commander';
import { listAuditEntries } from '../store/audit.ts';
import { asList, printRows, type ListOutput } from './output.ts';
import { withDatabase } from './support.ts';
import { limit, time } from './values.ts';

export function audit(): Command {
  return asList(new Command('audit'))
    .option('--since <time>', 'only what was done since then', time('--since'))
    .option('--limit <number>', 'how many entries', limit(100_000), 50)
    .action(async ({ json, wide, ...filter }: ListOutput & { since?: Date; limit: number }) => {
      const rows = await withDatabase(({ db }) => listAuditEntries(db, { since: undefined, ...filter }));
      const shown = rows.map(({ at, operator, host, command }) => ({ at, operator, host, command }));
      printRows(
        shown,
        { json, wide },
        { whenEmpty: 'No operator has changed anything yet.', least: ['host'] },
      );
    });
}
