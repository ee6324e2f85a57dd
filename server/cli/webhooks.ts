// `webhooks`: subscriptions. Their deliveries are in webhooks-deliveries.ts, what tries a receiver out in webhooks-listen.ts
// and webhooks-trigger.ts.
import { Command, Option } from 'commander';
import { programName } from '../../generated/operations.ts';
import type { Config } from '../config.ts';
import { confirm } from '../kit/cli/input.ts';
import { printJson, printRows, withExamples, WrongCall, type JsonOption } from '../kit/cli/output.ts';
import { duration, uuid } from '../kit/cli/values.ts';
import { compileAt, createAjv } from '../kit/contract/ajv.ts';
import { loadContract } from '../kit/contract/load.ts';
import { translate } from '../kit/contract/violations.ts';
import { urlRules, whyUndeliverable } from '../kit/events/guard.ts';
import {
  createSubscription,
  deleteSubscription,
  rotateSubscription,
  switchSubscription,
  isSchemeAllowed,
} from '../kit/events/subscriptions/changes.ts';
import { findWebhookSubscription, listAllSubscriptions } from '../kit/events/subscriptions/queries.ts';
import { OperatorFault } from '../kit/faults.ts';
import { guide } from '../kit/guides.ts';
import { allAccounts } from '../kit/rules/accounts.ts';
import {
  auditOnce,
  noSubscription,
  requireAccount,
  withChange,
  withService,
  type Call,
  type OpenedService,
} from './service.ts';
import { deliveriesCommand, workCommand } from './webhooks-deliveries.ts';
import { listenCommand } from './webhooks-listen.ts';
import { replayCommand } from './webhooks-replay.ts';
import { triggerCommand } from './webhooks-trigger.ts';

export function makeCommand(call: Call): Command {
  const command = new Command('webhooks');
  command
    .command('list')
    .description('list subscriptions, newest first')
    .option('--merchant-account <id>', 'those that receive the events of this account')
    .action(async ({ merchantAccount, ...output }: JsonOption & { merchantAccount?: string }) => {
      const { rows, config } = await withService(call, async ({ db, config: read }) => {
        const account = merchantAccount && (await requireAccount(db, merchantAccount));
        const all = await listAllSubscriptions(db);
        const isShown = (of: string | null) => !account || of === null || of === account;
        return { rows: all.filter((one) => isShown(one.merchant_account_id)), config: read };
      });
      const shown = rows.map(({ id, merchant_account_id, active, url, failing_since }) => ({
        id,
        account: merchant_account_id ?? 'all',
        active,
        url,
        failing_since,
      }));
      // In production, `listen` is refused.
      const make = config.environment === 'production' ? 'webhooks create URL' : 'webhooks listen';
      const whenEmpty = `There is no subscription. Make one: ${programName} ${make}`;
      printRows(shown, output, whenEmpty);
      // Not among the rows, which have the same columns for programs.
      if (!output.json)
        for (const { id, url } of rows.filter(({ active }) => active)) warnIfUndeliverable(id, url, config);
    });
  command.addCommand(createCommand(call));
  withExamples(command.command('rotate'), 'webhooks rotate ID --keep 24h')
    .description('create a new secret; the old one also signs until it expires')
    .argument('<id>', 'its ID', uuid)
    .addOption(
      new Option('--keep <time>', 'how long the old one stays valid: 30m, 24h, 7d')
        .argParser(duration)
        .default(24 * 3_600_000, '24h'),
    )
    .action((id: string, options: { keep: number }) => rotate(call, id, options));
  command
    .command('activate')
    .argument('<id>', 'its ID', uuid)
    .description('switch a subscription on, also one that was switched off because it failed')
    .action((id: string) => switchTo(call, id, true));
  command
    .command('deactivate')
    .argument('<id>', 'its ID', uuid)
    .description(
      'switch a subscription off: pending deliveries fail when their next attempt is due, and can be replayed later',
    )
    .action((id: string) => switchTo(call, id, false));
  for (const other of [
    deleteCommand,
    deliveriesCommand,
    replayCommand,
    workCommand,
    listenCommand,
    triggerCommand,
  ])
    command.addCommand(other(call));
  return command;
}

async function rotate(call: Call, id: string, { keep: keepMilliseconds }: { keep: number }): Promise<void> {
  const { secret, until, rotating } = await withService(
    call,
    ({ change, secrets: { vault } }) =>
      change(async (unit) => {
        const rotated = await rotateSubscription(unit, id, keepMilliseconds, vault);
        if (!rotated) throw noSubscription(id);
        if (rotated.kind === 'stillRotating')
          throw new OperatorFault(
            `The secret was rotated before, and the old one is valid until ${rotated.until?.toISOString() ?? ''}. Wait until then, or invalidate both old secrets now with --keep 0s.`,
          );
        await unit.audit({ about: id });
        return rotated;
      }),
    { creates: true },
  );
  printJson({ id, secret, rotating, old_secret_until: until });
}

async function switchTo(call: Call, id: string, active: boolean): Promise<void> {
  await withChange(call, async (unit) => {
    const switched = await switchSubscription(unit, id, active);
    if (!switched) throw noSubscription(id);
    if (switched.kind === 'tooMany') throw new OperatorFault(switched.reason);
    await unit.audit({ about: id });
  });
  printJson({ id, active });
}

const createCommand = (call: Call): Command =>
  withExamples(
    new Command('create'),
    'webhooks create https://shop.example.com/webhooks',
    "webhooks create https://shop.example.com/webhooks --merchant-account '*' --inactive",
  )
    .description('subscribe a receiver, and print the secret that verifies its events')
    .argument('<url>', 'where to send events; https in production')
    .option('--merchant-account <id>', 'account whose events to send; * is all', 'default')
    .option('--inactive', 'send nothing until it is activated')
    .addHelpText('after', '\nFor a receiver with a user name and password, use POST /webhook-subscriptions.')
    .action((url: string, options: CreateOptions) => create(call, url, options));

const deleteCommand = (call: Call): Command =>
  new Command('delete')
    .description('delete a subscription with all its deliveries; to keep them, deactivate it')
    .argument('<id>', 'its ID', uuid)
    .option('--yes', 'do not ask')
    .action(async (id: string, { yes = false }: { yes?: boolean }) => {
      const found = await withService(call, ({ db }) => findWebhookSubscription(db, id));
      if (!found) throw noSubscription(id);
      // The host alone: the rest of the URL may have a token in it.
      const { host } = new URL(found.url);
      if (!yes)
        await confirm(`Delete the subscription of ${host} with its secret and all its deliveries for ever?`);
      // Long: a subscription may have millions of deliveries.
      await withService(call, ({ db }) => deleteSubscription(auditOnce(db, call), id), {
        creates: true,
        isLong: true,
      });
      printJson({ id, deleted: true });
    });

/** As the contract says. Not a parser of Commander, which prints what it refuses: the URL may have a password in it. */
function refuseUrl(text: string): void {
  const ajv = createAjv(loadContract().document, { verbose: true });
  const check = compileAt(ajv, '/components/schemas/WebhookSubscriptionCreate/properties/url');
  if (!check(text) || !URL.canParse(text)) {
    const [fault] = translate(ajv, check.errors ?? [], 'body');
    throw new WrongCall(
      `The URL ${fault?.message ?? 'must have a host that is a valid name or IP address'}.`,
    );
  }
}

interface CreateOptions {
  merchantAccount: string;
  inactive?: boolean;
}

async function create(
  call: Call,
  given: string,
  { merchantAccount, inactive = false }: CreateOptions,
): Promise<void> {
  refuseUrl(given);
  const createIn = async ({ change, secrets: { vault }, config }: OpenedService) => {
    if (!isSchemeAllowed(given, config.environment))
      throw new OperatorFault('In production the URL must start with https://.');
    const { row, secret } = await change(async (unit) => {
      const merchant_account_id =
        merchantAccount === allAccounts ? null : await requireAccount(unit.db, merchantAccount);
      const wanted = { merchant_account_id, url: given, active: !inactive, authentication: null };
      const made = await createSubscription(unit, wanted, vault);
      if (made.kind === 'tooMany') throw new OperatorFault(made.reason);
      await unit.audit({ about: made.row.id });
      return made;
    });
    const { id, merchant_account_id, url: stored, active } = row;
    printJson({ id, merchant_account_id, url: stored, active, secret });
    warnIfUndeliverable(id, stored, config);
  };
  await withService(call, createIn, { creates: true });
}

/** Such a URL is accepted, because addresses are checked at delivery. The operator need not wait for the failures. */
function warnIfUndeliverable(id: string, address: string, config: Config): void {
  const reason = whyUndeliverable(new URL(address), urlRules(config));
  if (reason !== undefined)
    console.error(`Nothing can be delivered to ${id}: ${reason}. See: ${guide('guides/webhooks.md')}`);
}
