import { Command } from 'commander';
import { readConfig } from '../config.ts';
import { runningUrl } from '../store/embedded/index.ts';
import { Refused } from './support.ts';

export function database(): Command {
  const command = new Command('database').description('the database behind the service');
  command
    .command('url')
    .description('print the address for psql and other tools, while the server runs')
    .addHelpText('after', '\nExample:\n  psql "$(npm run -s payments -- database url)"')
    .action(async () => {
      const { databaseUrl, dataDir } = readConfig();
      const url = databaseUrl ?? (await runningUrl(dataDir));
      if (url === undefined)
        throw new Refused('The embedded database runs while the server does. Start it: npm start');
      console.log(url);
    });
  return command;
}
