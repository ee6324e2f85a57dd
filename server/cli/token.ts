import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Command } from 'commander';
import { programName } from '../../generated/operations.ts';
import { readCommandConfig } from '../config.ts';
import { longestLifetimeSeconds } from '../kit/access/claims.ts';
import { isScope } from '../kit/access/roles/rules.ts';
import { algorithmOf, signToken } from '../kit/access/token.ts';
import { noSandbox, WrongCall } from '../kit/cli/output.ts';
import { scopesLike, whole } from '../kit/cli/values.ts';
import { OperatorFault } from '../kit/faults.ts';
import { sandboxKeyFile } from '../kit/secrets/secrets-file.ts';

export function makeCommand(): Command {
  return new Command('token')
    .requiredOption(
      '--scopes <scopes>',
      "scopes, separated by commas: transactions.read,payment-methods.write, or '*.read'",
      scopesLike(isScope, '<resource>.read, <resource>.write, *.read, *.write or embed'),
    )
    .option('--key <file>', 'private key (PEM); by default that of the sandbox, needed in production')
    .option(
      '--ttl <seconds>',
      `lifetime in seconds, at most ${longestLifetimeSeconds}`,
      whole(1, longestLifetimeSeconds),
      3600,
    )
    .addHelpText(
      'after',
      `
Signs without asking the database. The service then returns 401 if the key pair is unknown or deactivated, and 403 if its roles do
not allow a scope. See: ${programName} keys list

Examples:
  curl -H "Authorization: Bearer $(${programName} token --scopes transactions.read --key checkout.pem)" http://127.0.0.1:8080/transactions
  ${programName} token --scopes payment-methods.write,transactions.read --key checkout.pem --ttl 600`,
    )
    .action(({ scopes, key, ttl }: { scopes: string[]; key?: string; ttl: number }) => {
      console.log(signToken(readKey(key), scopes, ttl));
    });
}

function sandboxKey(): string {
  const { environment, dataDir } = readCommandConfig();
  // The folder may be left from a sandbox, and the service would refuse its tokens.
  if (environment === 'production')
    throw new WrongCall(
      `In production give --key FILE: a private key that ${programName} keys create --out FILE made.`,
    );
  return sandboxKeyFile(dataDir);
}

function readKey(file: string | undefined): KeyObject {
  const path = file ?? sandboxKey();
  let pem: Buffer;
  try {
    pem = readFileSync(path);
  } catch {
    throw file === undefined ? noSandbox(dirname(path)) : new OperatorFault(`${file} cannot be read.`);
  }
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new OperatorFault(
      pem.includes('ENCRYPTED')
        ? `${path} has a passphrase. Write the key without it: openssl pkey -in KEY.pem -out PLAIN.pem`
        : `${path} is not a private key in PEM format.`,
    );
  }
  if (!algorithmOf(key))
    throw new OperatorFault(`${path} is neither ECDSA on P-521 nor RSA of 2048 bits or more.`);
  return key;
}
