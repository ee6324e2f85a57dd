import { Command } from 'commander';
import { printRows, withExamples, type JsonOption } from '../kit/cli/output.ts';
import { time, whole } from '../kit/cli/values.ts';
import { listAuditEntries, type AuditFilter } from '../kit/maintenance/audit.ts';
import { withService, type Call } from './service.ts';

export function makeCommand(call: Call): Command {
  return withExamples(new Command('audit'), 'audit --since 24h', 'audit --limit 1000 --json')
    .option('--since <time>', 'only what was done since then', time)
    .option('--until <time>', 'only what was done before then', time)
    .option('--operator <name>', 'only what this operator did, named as in the list')
    .option('--search <text>', 'only commands with this text, such as an ID', (text) => [text])
    .option('--limit <number>', 'how many entries', whole(1, 100_000), 50)
    .action(async ({ json, ...filter }: JsonOption & AuditFilter) => {
      const rows = await withService(call, ({ db }) => listAuditEntries(db, filter));
      const shown = rows.map(({ at, operator, host, command }) => {
        const [, created = null] = / # ([0-9a-f-]{36})$/.exec(command) ?? [];
        return { at, operator, host, created, command };
      });
      printRows(shown, { json }, 'There is no such entry.');
    });
}
