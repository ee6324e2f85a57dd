import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { readCommandConfig } from '../config.ts';
import { codeOf, OperatorFault } from '../faults.ts';
import { shellWord } from '../installation.ts';
import { createKeyPair, deactivateKeyPair } from '../resources/api-key-pairs/changes.ts';
import { findApiKeyPair, listApiKeyPairs } from '../resources/api-key-pairs/queries.ts';
import { presentApiKeyPair } from '../resources/api-key-pairs/table.ts';
import { algorithms, generateKeyPair, type Algorithm } from '../resources/api-key-pairs/token.ts';
import { findFirstAccount } from '../resources/merchant-accounts/queries.ts';
import type { Accounts } from '../rules/accounts.ts';
import { visible } from '../visible.ts';
import { confirm } from './input.ts';
import { printJson, printRows, withExamples, WrongCall, type JsonOption } from './output.ts';
import { notFound, withChange, withService } from './service.ts';
import { collect, name, uuid } from './values.ts';

interface CreateOptions {
  name: string;
  algorithm: Algorithm;
  role: string[];
  merchantAccount: string[];
  out?: string;
}

export function makeCommand(): Command {
  const command = new Command('keys');
  command
    .command('list')
    .description('list key pairs, newest first')
    .action(async (output: JsonOption) => {
      const rows = await withService(({ db }) => listApiKeyPairs(db));
      const shown = rows.map((pair) => ({
        id: pair.id,
        display_name: pair.display_name,
        active: pair.active,
        roles: pair.roles.map(({ slug }) => slug),
        accounts: accountsOf(pair, output),
        algorithm: pair.algorithm,
        thumbprint: pair.thumbprint,
        created_at: pair.created_at,
        last_used_at: pair.last_used_at,
      }));
      const make = 'payments keys create --name "My server" --role administrator';
      printRows(shown, output, `There is no key pair. Make one: ${make}`);
    });
  withExamples(
    command.command('create'),
    'keys create --name "Checkout server" --role checkout --out checkout.pem',
    'keys create --name Reports --role reporting --merchant-account default --out reports.pem',
  )
    .description('create a key pair; prints it as JSON with the private key, which is not shown again')
    .requiredOption('--name <name>', 'name for people, 1 to 200 characters', name)
    .addOption(new Option('--algorithm <algorithm>', 'kind of key').choices(algorithms).default('ECDSA'))
    .addOption(
      new Option('--role <slug>', 'role, needed in production; repeat for several')
        .argParser(collect)
        .default([], 'administrator'),
    )
    .addOption(
      new Option('--merchant-account <id>', 'account that it has access to; repeat for several')
        .argParser(collect)
        .default([], 'all'),
    )
    .option('--out <file>', 'write the private key to this file (mode 0600) instead of printing it')
    .action(create);
  command
    .command('deactivate')
    .argument('<id>', 'its ID', uuid)
    .description('deactivate a key pair for ever: its tokens are refused within seconds, on every instance')
    .option('--yes', 'do not ask for confirmation; without a terminal, the command never asks')
    .action(deactivate);
  return command;
}

/** A pair without accounts has access to all of them, which people must not take for none. */
const accountsOf = (pair: { merchant_accounts: readonly { id: string }[] }, { json }: JsonOption) =>
  !json && pair.merchant_accounts.length === 0 ? 'all' : pair.merchant_accounts.map(({ id }) => id);

async function deactivate(id: string, { yes = false }: { yes?: boolean }): Promise<void> {
  if (!yes && process.stdin.isTTY) await confirmIfActive(id);
  let found: Awaited<ReturnType<typeof deactivateKeyPair>>;
  await withChange(async (unit) => {
    found = await deactivateKeyPair(unit, id);
    return found?.wasActive ?? false;
  });
  if (!found) throw notFound('key pair', id, 'keys list');
  const { pair, wasActive } = found;
  printJson({ id: pair.id, display_name: pair.display_name, active: pair.active });
  console.error(
    wasActive
      ? 'This cannot be undone. For new tokens, create another key pair.'
      : 'It was deactivated already; nothing was changed.',
  );
}

async function confirmIfActive(id: string): Promise<void> {
  const pair = await withService(({ db }) => findApiKeyPair(db, id));
  if (!pair?.active) return;
  const used = pair.last_used_at ? `last used ${pair.last_used_at.toISOString()}` : 'never used';
  await confirm(`Deactivate the key pair ${id} (${visible(pair.display_name)}, ${used}) for ever?`);
}

async function create(options: CreateOptions): Promise<void> {
  const { algorithm, role, merchantAccount, out } = options;
  if (role.length === 0 && readCommandConfig().environment === 'production')
    throw new WrongCall(
      `In production give --role with what this system needs (see: payments roles list), or --role administrator for everything.`,
    );
  const { privateKey } = generateKeyPair(algorithm);
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const roles = role.length > 0 ? [...new Set(role)] : ['administrator'];
  const accounts: Accounts = merchantAccount.length === 0 ? 'all' : { only: [...new Set(merchantAccount)] };
  let isWritten = false;
  const { pair, hasAccount } = await withChange(async (unit) => {
    const made = await createKeyPair(unit, { privateKey, name: options.name, roles, accounts });
    if (!('id' in made))
      throw new OperatorFault(
        'roles' in made
          ? `There is no role ${made.roles.join(', ')}. See: payments roles list${made.roles.some((slug) => slug.includes(',')) ? '. For several, repeat --role.' : ''}`
          : `There is no merchant account ${made.accounts.join(', ')}. See: payments accounts list`,
      );
    // Before the commit: a pair whose private key is lost is useless. Once, because the work may be repeated.
    if (out !== undefined && !isWritten) writePrivateKey(out, pem);
    isWritten = true;
    return { id: made.id, pair: made, hasAccount: (await findFirstAccount(unit.db, 'all')) !== undefined };
  });
  printJson({ ...presentApiKeyPair(pair), ...(out === undefined ? { private_key: pem } : {}) });
  if (out !== undefined) console.error(`To sign a token with it: payments ${tokenCommand(pair.roles, out)}`);
  if (!hasAccount)
    console.error(
      `There is no merchant account yet, so most operations answer 404. Create one: payments accounts create default --name Default`,
    );
}

/** With all scopes that the roles allow. */
function tokenCommand(roles: readonly { permissions: readonly string[] }[], file: string): string {
  const scopes = [...new Set(roles.flatMap(({ permissions }) => permissions))].join(',');
  return `token --scopes ${shellWord(scopes)} --key ${shellWord(file)}`;
}

function writePrivateKey(file: string, pem: string): void {
  let handle: number | undefined;
  try {
    // 'wx' refuses a name that exists, also a link that leads nowhere.
    handle = openSync(file, 'wx', 0o600);
    writeFileSync(handle, pem, { flush: true });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new OperatorFault(`${file} exists already. Choose another file.`);
    if (handle !== undefined) rmSync(file);
    throw new OperatorFault(`${file} could not be written: ${(error as Error).message}`);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
