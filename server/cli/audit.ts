import { Command } from 'commander';
import { listAuditEntries } from '../store/audit.ts';
import { printRows, Refused } from './output.ts';
import { withDatabase } from './support.ts';

export function audit(): Command {
  return new Command('audit')
    .description('show what operators changed with this command line, newest first')
    .option('--since <time>', 'only what was done since then')
    .option('--limit <number>', 'how many entries', '50')
    .option('--json', 'for programs')
    .action(async ({ since, limit, json }: { since?: string; limit: string; json?: boolean }) => {
      if (!/^\d{1,6}$/.test(limit)) throw new Refused('--limit is a number.');
      const from = since === undefined ? undefined : new Date(since);
      if (from && (Number.isNaN(from.getTime()) || !/^\d{4}-\d\d-\d\d/.test(since ?? '')))
        throw new Refused('--since is a time such as 2026-11-15T00:00:00Z.');
      const rows = await withDatabase(({ db }) =>
        listAuditEntries(db, { since: from, limit: Number(limit) }),
      );
      const shown = rows.map(({ at, operator, host, command }) => ({ at, operator, host, command }));
      printRows(shown, json, 'No operator has changed anything yet.');
    });
}
