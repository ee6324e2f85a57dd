import { Command } from 'commander';
import { listAuditEntries, type AuditFilter } from '../upkeep/audit.ts';
import { asList, printRows, type ListOutput } from './output.ts';
import { withDatabase } from './support.ts';
import { limit, time } from './values.ts';

export function audit(): Command {
  return asList(new Command('audit'))
    .option('--since <time>', 'only what was done since then', time('--since'))
    .option('--until <time>', 'only what was done before then', time('--until'))
    .option('--operator <name>', 'only what this operator did, named as in the list')
    .option('--search <text>', 'only commands with this text, such as an ID', (text) => [text])
    .option('--limit <number>', 'how many entries', limit(100_000), 50)
    .action(async ({ json, wide, ...filter }: ListOutput & AuditFilter) => {
      const rows = await withDatabase(({ db }) => listAuditEntries(db, filter));
      const shown = rows.map(({ at, operator, host, command }) => {
        // A column of its own on a terminal, where the end of a long command is cut.
        const [, before = command, created = null] = /^(.*) # ([0-9a-f-]{36})$/s.exec(command) ?? [];
        return { at, operator, host, created, command: json ? command : before };
      });
      printRows(
        shown,
        { json, wide },
        { whenEmpty: 'There is no such entry.', least: ['host'], textMatters: true },
      );
    });
}
