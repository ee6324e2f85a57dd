import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { programName } from '../../generated/operations.ts';
import { readCommandConfig } from '../config.ts';
import { findFirstAccount } from '../kit/access/accounts/queries.ts';
import {
  createKeyPair,
  deactivateKeyPair,
  updateAccountsOf,
  type Missing,
} from '../kit/access/key-pairs/changes.ts';
import { findApiKeyPair, listAllKeyPairs } from '../kit/access/key-pairs/queries.ts';
import {
  accountsOf,
  isUsable,
  presentApiKeyPair,
  type ApiKeyPairRow,
} from '../kit/access/key-pairs/table.ts';
import { algorithms, generateKeyPair, type Algorithm } from '../kit/access/token.ts';
import { confirm } from '../kit/cli/input.ts';
import { printJson, printRows, withExamples, WrongCall, type JsonOption } from '../kit/cli/output.ts';
import { collect, name, uuid } from '../kit/cli/values.ts';
import { codeOf, OperatorFault } from '../kit/faults.ts';
import { shellWord } from '../kit/installation.ts';
import { visible } from '../kit/log/visible.ts';
import type { Accounts } from '../kit/rules/accounts.ts';
import { notFound, withChange, withService, type Call } from './service.ts';

interface CreateOptions {
  name: string;
  algorithm: Algorithm;
  role: string[];
  merchantAccount: string[];
  out?: string;
}

export function makeCommand(call: Call): Command {
  const command = new Command('keys');
  command
    .command('list')
    .description('list key pairs, newest first')
    .action(async (output: JsonOption) => {
      const rows = await withService(call, ({ db }) => listAllKeyPairs(db));
      const shown = rows.map((pair) => ({
        id: pair.id,
        display_name: pair.display_name,
        active: isUsable(pair, pair.merchant_accounts),
        roles: pair.roles.map(({ slug }) => slug),
        accounts: shownAccounts(pair, output),
        algorithm: pair.algorithm,
        thumbprint: pair.thumbprint,
        created_at: pair.created_at,
        last_used_at: pair.last_used_at,
      }));
      const make = `${programName} keys create --name "My server" --role administrator`;
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
    .action((options: CreateOptions) => create(call, options));
  withExamples(
    command.command('update'),
    'keys update ID --merchant-account default --merchant-account marketplace',
    'keys update ID --all-accounts',
  )
    .argument('<id>', 'its ID', uuid)
    .description('change which accounts a key pair has access to, within two seconds, on every instance')
    .addOption(
      new Option('--merchant-account <id>', 'account, instead of those that it has; repeat for several')
        .argParser(collect)
        .conflicts('allAccounts'),
    )
    .option('--all-accounts', 'all accounts, also those that are created later')
    .action((id: string, options: UpdateOptions) => update(call, id, options));
  command
    .command('deactivate')
    .argument('<id>', 'its ID', uuid)
    .description('deactivate a key pair for ever: its tokens are refused within seconds, on every instance')
    .option('--yes', 'do not ask for confirmation; without a terminal, the command never asks')
    .action((id: string, options: { yes?: boolean }) => deactivate(call, id, options));
  return command;
}

/** An empty list means all accounts to programs, as in the API, but not to people. */
function shownAccounts(pair: ApiKeyPairRow, { json }: JsonOption): string | string[] {
  const ids = pair.merchant_accounts.map(({ id }) => id);
  if (json || ids.length > 0) return ids;
  return accountsOf(pair, ids) === 'all' ? 'all' : 'none';
}

interface UpdateOptions {
  merchantAccount?: string[];
  allAccounts?: true;
}

async function update(
  call: Call,
  id: string,
  { merchantAccount = [], allAccounts }: UpdateOptions,
): Promise<void> {
  const only = [...new Set(merchantAccount)].filter((account) => account !== '');
  if (!allAccounts && only.length === 0)
    throw new WrongCall(
      `Name the accounts: --merchant-account ID, or --all-accounts. If it needs none any more: ${programName} keys deactivate ${id}`,
    );
  const accounts: Accounts = allAccounts ? 'all' : { only };
  const pair = await withChange(call, async (unit) => {
    const updated = await updateAccountsOf(unit, id, accounts);
    if (!updated) throw notFound('key pair', id, 'keys list');
    if (updated.kind !== 'stored') throw missing(updated);
    await unit.audit({ about: id });
    return updated.pair;
  });
  printJson(presentApiKeyPair(pair));
}

const missing = (what: Missing): OperatorFault =>
  new OperatorFault(
    what.kind === 'noRoles'
      ? `There is no role ${what.slugs.join(', ')}. See: ${programName} roles list${what.slugs.some((slug) => slug.includes(',')) ? '. For several, repeat --role.' : ''}`
      : `There is no merchant account ${what.ids.join(', ')}. See: ${programName} accounts list`,
  );

async function deactivate(call: Call, id: string, { yes = false }: { yes?: boolean }): Promise<void> {
  if (!yes && process.stdin.isTTY) await confirmIfActive(call, id);
  const { pair, wasActive } = await withChange(call, async (unit) => {
    const found = await deactivateKeyPair(unit, id);
    if (!found) throw notFound('key pair', id, 'keys list');
    if (found.wasActive) await unit.audit({ about: id });
    return found;
  });
  printJson({ id: pair.id, display_name: pair.display_name, active: pair.active });
  console.error(
    wasActive
      ? 'This cannot be undone. For new tokens, create another key pair.'
      : 'It was deactivated already; nothing was changed.',
  );
}

async function confirmIfActive(call: Call, id: string): Promise<void> {
  const pair = await withService(call, ({ db }) => findApiKeyPair(db, id));
  if (!pair?.active) return;
  const used = pair.last_used_at ? `last used ${pair.last_used_at.toISOString()}` : 'never used';
  await confirm(`Deactivate the key pair ${id} (${visible(pair.display_name)}, ${used}) for ever?`);
}

async function create(call: Call, options: CreateOptions): Promise<void> {
  const { algorithm, role, merchantAccount, out } = options;
  if (role.length === 0 && readCommandConfig().environment === 'production')
    throw new WrongCall(
      `In production give --role with what this system needs (see: ${programName} roles list), or --role administrator for everything.`,
    );
  const { privateKey } = generateKeyPair(algorithm);
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const roles = role.length > 0 ? [...new Set(role)] : ['administrator'];
  const accounts: Accounts = merchantAccount.length === 0 ? 'all' : { only: [...new Set(merchantAccount)] };
  let isWritten = false;
  const { pair, hasAccount } = await withChange(call, async (unit) => {
    const made = await createKeyPair(unit, { privateKey, name: options.name, roles, accounts });
    if (made.kind !== 'stored') throw missing(made);
    const { pair } = made;
    // Before the commit: a pair whose private key is lost is useless. Once, because the work may be repeated.
    if (out !== undefined && !isWritten) writePrivateKey(out, pem);
    isWritten = true;
    await unit.audit({ about: pair.id });
    return { pair, hasAccount: (await findFirstAccount(unit.db)) !== undefined };
  });
  printJson({ ...presentApiKeyPair(pair), ...(out === undefined ? { private_key: pem } : {}) });
  if (out !== undefined)
    console.error(`To sign a token with it: ${programName} ${tokenCommand(pair.roles, out)}`);
  if (!hasAccount)
    console.error(
      `There is no merchant account yet, so most operations answer 404. Create one: ${programName} accounts create default --name Default`,
    );
}

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
