// The command `start`.
import { Command } from 'commander';
import type { Logger } from 'pino';
import { programName } from '../../generated/operations.ts';
import { isProduction, readConfig, readStartConfig, type Config } from '../../server/config.ts';
import { WrongCall } from '../../server/kit/cli/output.ts';
import { whole } from '../../server/kit/cli/values.ts';
import { run, runAs } from '../../server/run.ts';
import { startService } from '../../server/start.ts';
import { obey, type Sandbox } from './lines.ts';
import { startTemporary } from './temporary.ts';

interface Options {
  port?: number;
  data?: string;
  json?: boolean;
}

export function makeCommand(): Command {
  return new Command('start')
    .option(
      '--port <number>',
      'port to listen on, 0 for any free one; default: PORT, or 8080',
      whole(0, 65_535),
    )
    .option(
      '--data <folder>',
      'folder of the data; temporary: a new one, removed at the end; default: DATA_DIR, or .data',
    )
    .option('--json', 'for programs: print a line of JSON when it is ready, and end when standard input ends')
    .addHelpText(
      'after',
      `
The options are for the sandbox. With ENVIRONMENT=production, and without options, it runs the service. With --data temporary it reads
no other settings, and with --json, too, a line "reset" on standard input makes it as it was at its start.

The line has url, key_file (the private key) and data_dir. The log goes to standard error, from LOG_LEVEL=warn on.

Examples:
  ${programName} start
  ${programName} start --port 9000 --data temporary`,
    )
    .action(async (options: Options) => {
      if (Object.keys(options).length === 0) {
        await run();
        return;
      }
      const isTemporary = options.data === 'temporary';
      if (!isTemporary && isProduction())
        throw new WrongCall(
          '--port, --data and --json are for the sandbox. In production, set PORT instead.',
        );
      await runAs<Sandbox>({
        read: () => readSettings(options, isTemporary),
        start: isTemporary ? startTemporary : startKept,
        serveProgram: options.json ? obey : undefined,
        portOption: (port) => `--port ${port}`,
      });
    });
}

/** Those in the environment may be those of the program that started this. */
function readSettings({ port, data, json }: Options, isTemporary: boolean): Config {
  const quiet = json ? { LOG_LEVEL: 'warn' } : {};
  const chosen = port === undefined ? {} : { PORT: String(port) };
  if (isTemporary) return readConfig({ ...quiet, ...chosen });
  return readStartConfig(quiet, { ...chosen, ...(data !== undefined && { DATA_DIR: data }) });
}

const startKept = async (config: Config, log: Logger): Promise<Sandbox> => ({
  ...(await startService(config, log)),
  dataDir: config.dataDir,
});
