// `payments webhooks`: subscriptions. Their deliveries are in webhooks-deliveries.ts, what tries a receiver out in webhooks-try.ts.
import { Command, Option } from 'commander';
import {
  createSubscription,
  deleteSubscription,
  rotateSubscription,
  switchSubscription,
} from '../resources/webhook-subscriptions/changes.ts';
import type { Config } from '../config.ts';
import { compileAt, createAjv } from '../contract/ajv.ts';
import { loadContract } from '../contract/load.ts';
import { createTranslator } from '../contract/violations.ts';
import { isUuid } from '../rules/uuid.ts';
import { isCallable } from '../rules/callable-url.ts';
import { isSchemeAllowed } from '../resources/webhook-subscriptions/rules.ts';
import { forOperator } from '../hints.ts';
import { listWebhookSubscriptions } from '../resources/webhook-subscriptions/queries.ts';
import { urlRules, whyUndeliverable } from '../events/guard.ts';
import { OperatorFault } from '../operator-fault.ts';
import { asksYes } from './input.ts';
import { asList, call, printJson, printRows, withExamples, WrongCall, type ListOutput } from './output.ts';
import {
  inAuditedWork,
  noSubscription,
  requireAccount,
  withDatabase,
  withSecrets,
  withWork,
} from './support.ts';
import { duration } from './values.ts';
import { deliveriesCommand, replayCommand, workCommand } from './webhooks-deliveries.ts';
import { listenCommand, triggerCommand } from './webhooks-try.ts';

export function webhooks(): Command {
  const command = new Command('webhooks');
  asList(command.command('list'))
    .description('list subscriptions, newest first')
    .option('--merchant-account <id>', 'those that receive the events of this account')
    .action(async ({ merchantAccount, ...output }: ListOutput & { merchantAccount?: string }) => {
      const { rows, config } = await withDatabase(async ({ db }, read) => {
        const account = merchantAccount && (await requireAccount(db, merchantAccount));
        const all = await listWebhookSubscriptions(db);
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
      const whenEmpty = `There is no subscription. Make one: ${call(make)}`;
      printRows(shown, output, whenEmpty);
      // Not among the rows, which have the same columns for programs.
      if (!output.json)
        for (const { id, url } of rows.filter(({ active }) => active)) warnIfUndeliverable(id, url, config);
    });
  command.addCommand(createCommand());
  withExamples(command.command('rotate <id>'), 'webhooks rotate ID --keep 24h')
    .description('create a new secret; the old one also signs until it expires')
    .addOption(
      new Option('--keep <time>', 'how long the old one stays valid: 30m, 24h, 7d')
        .argParser(duration)
        .default(24 * 3_600_000, '24h'),
    )
    .action(rotate);
  command
    .command('activate <id>')
    .description('switch a subscription on, also one that was switched off because it failed')
    .action((id: string) => switchTo(id, true));
  command
    .command('deactivate <id>')
    .description(
      'switch a subscription off: pending deliveries fail when their next attempt is due, and can be replayed later',
    )
    .action((id: string) => switchTo(id, false));
  for (const other of [
    deleteCommand,
    deliveriesCommand,
    replayCommand,
    workCommand,
    listenCommand,
    triggerCommand,
  ])
    command.addCommand(other());
  return command;
}

async function rotate(id: string, { keep: keepMilliseconds }: { keep: number }): Promise<void> {
  if (!isUuid(id)) throw noSubscription(id);
  const rotated = await withSecrets(async ({ database: { db }, secrets: { vault } }) => {
    const done = await inAuditedWork(db, (work) => rotateSubscription(work, id, keepMilliseconds, vault));
    if (done) return done;
    const found = (await listWebhookSubscriptions(db)).find((one) => one.id === id.toLowerCase());
    if (!found) throw noSubscription(id);
    throw new OperatorFault(
      `The secret was rotated before, and the old one is valid until ${found.old_secret_until?.toISOString() ?? ''}. Wait until then, or invalidate both old secrets now with --keep 0s.`,
    );
  });
  const { secret, until } = rotated;
  printJson({ id, secret, rotating: until > new Date(), old_secret_until: until });
}

async function switchTo(id: string, active: boolean): Promise<void> {
  const done = isUuid(id) && (await withWork((unit) => switchSubscription(unit, id, active)));
  if (!done) throw noSubscription(id);
  printJson({ id, active });
}

const createCommand = (): Command =>
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
    .action(create);

const deleteCommand = (): Command =>
  new Command('delete')
    .description('delete a subscription with all its deliveries; to keep them, deactivate it')
    .argument('<id>')
    .option('--yes', 'do not ask')
    .action(async (id: string, { yes = false }: { yes?: boolean }) => {
      if (!yes) await confirm(id);
      // Long: a subscription may have millions of deliveries.
      const done =
        isUuid(id) &&
        (await withDatabase(({ db }) => inAuditedWork(db, (unit) => deleteSubscription(unit, id)), {
          creates: true,
          isLong: true,
        }));
      if (!done) throw noSubscription(id);
      printJson({ id, deleted: true });
    });

async function confirm(id: string): Promise<void> {
  const rows = await withDatabase(({ db }) => listWebhookSubscriptions(db));
  const found = rows.find((one) => one.id === id.toLowerCase());
  if (!found) throw noSubscription(id);
  if (!process.stdin.isTTY)
    throw new OperatorFault('This cannot be undone. Add --yes, or deactivate it instead.');
  // The host alone: the rest of the URL may have a token in it.
  const { host } = new URL(found.url);
  if (!(await asksYes(`Delete the subscription of ${host} with its secret and all its deliveries for ever?`)))
    throw new OperatorFault('Nothing was deleted.');
}

/** As the contract says. Not a parser of Commander, which prints what it refuses: the URL may have a password in it. */
function refuseUrl(text: string): void {
  const ajv = createAjv(loadContract().document, { verbose: true });
  const check = compileAt(ajv, '/components/schemas/WebhookSubscriptionCreate/properties/url');
  if (!check(text) || !isCallable(text)) {
    const [fault] = createTranslator(ajv)(check.errors ?? [], 'body');
    throw new WrongCall(
      `The URL ${fault?.message ?? 'must have a host that is a valid name or IP address'}.`,
    );
  }
}

interface CreateOptions {
  merchantAccount: string;
  inactive?: boolean;
}

async function create(given: string, { merchantAccount, inactive = false }: CreateOptions): Promise<void> {
  refuseUrl(given);
  await withSecrets(async ({ database: { db }, secrets: { vault }, config }) => {
    if (!isSchemeAllowed(given, config.environment))
      throw new OperatorFault('In production the URL must start with https://.');
    const { row, secret } = await inAuditedWork(db, async (unit) => {
      const merchant_account_id =
        merchantAccount === '*' ? null : await requireAccount(unit.db, merchantAccount);
      const wanted = { merchant_account_id, url: given, active: !inactive, authentication: null };
      const made = await createSubscription(unit, wanted, vault);
      return { id: made.row.id, ...made };
    });
    const { id, merchant_account_id, url: stored, active } = row;
    printJson({ id, merchant_account_id, url: stored, active, secret });
    warnIfUndeliverable(id, stored, config);
  });
}

/** Such a URL is accepted, because addresses are judged at delivery. The operator need not wait for the failures. */
function warnIfUndeliverable(id: string, address: string, config: Config): void {
  const reason = isCallable(address) ? whyUndeliverable(new URL(address), urlRules(config)) : undefined;
  if (reason !== undefined)
    console.error(forOperator(`Nothing can be delivered to ${id}: ${reason}. See: docs/guides/webhooks.md`));
}
