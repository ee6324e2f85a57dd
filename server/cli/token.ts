import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { readConfig } from '../config.ts';
import { isScope } from '../domain/scopes.ts';
import { algorithmOf } from '../domain/key-pair.ts';
import { longestLifetimeSeconds, signToken } from '../domain/token.ts';
import { sandboxKeyFile } from '../sandbox/secrets-file.ts';
import { Refused } from './output.ts';
import { whole, words } from './values.ts';

export function token(): Command {
  return new Command('token')
    .requiredOption(
      '--scopes <scopes>',
      "scopes, separated by commas: transactions.read,payment-methods.write, or '*.read'",
      words(isScope, (wrong) =>
        wrong.length === 0
          ? 'Name at least one scope: --scopes transactions.read'
          : `${wrong.join(', ')} is not a scope. Write <resource>.read, <resource>.write, *.read, *.write or embed.`,
      ),
    )
    .option('--key <file>', 'private key (PEM); by default that of the sandbox')
    .option(
      '--ttl <seconds>',
      `lifetime, at most ${longestLifetimeSeconds}`,
      whole(1, longestLifetimeSeconds, `--ttl is a number of seconds from 1 to ${longestLifetimeSeconds}.`),
      3600,
    )
    .addHelpText(
      'after',
      `
Example:
  curl -H "Authorization: Bearer $(npm run -s payments -- token --scopes transactions.read)" http://127.0.0.1:8080/transactions`,
    )
    .action(({ scopes, key, ttl }: { scopes: string[]; key?: string; ttl: number }) => {
      console.log(signToken(readKey(key), scopes, ttl));
    });
}

function readKey(file: string | undefined): KeyObject {
  const path = file ?? sandboxKeyFile(readConfig().dataDir);
  let pem: Buffer;
  try {
    pem = readFileSync(path);
  } catch {
    throw new Refused(
      file === undefined ? 'The sandbox has no key yet. Start it once: npm start' : `${file} cannot be read.`,
    );
  }
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new Refused(`${path} is not a private key in PEM format.`);
  }
  if (!algorithmOf(key)) throw new Refused(`${path} is neither ECDSA on P-521 nor RSA of 2048 bits or more.`);
  return key;
}
