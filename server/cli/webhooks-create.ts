// `payments webhooks create` and `delete`: as POST /webhook-subscriptions, without a key pair and a token.
import { Command } from 'commander';
import { createSubscription, deleteSubscription } from '../resources/webhook-subscriptions/changes.ts';
import type { Config } from '../config.ts';
import { compileAt, createAjv } from '../contract/ajv.ts';
import { loadContract } from '../contract/load.ts';
import { createTranslator } from '../contract/violations.ts';
import { isUuid } from '../rules/uuid.ts';
import { isCallable, isSchemeAllowed } from '../resources/webhook-subscriptions/rules.ts';
import { forOperator } from '../hints.ts';
import { listWebhookSubscriptions } from '../resources/webhook-subscriptions/queries.ts';
import { urlRules, whyUndeliverable } from '../events/guard.ts';
import { OperatorFault } from '../operator-fault.ts';
import { asksYes } from './input.ts';
import { call, printJson } from './output.ts';
import { inAuditedWork, requireAccount, withDatabase, withSecrets } from './support.ts';

export const createCommand = (): Command =>
  new Command('create')
    .description('subscribe a receiver, and print the secret that verifies its events')
    .argument('<url>', 'where to send events; https in production', url)
    .option('--merchant-account <id>', 'account whose events to send; * is all', 'default')
    .option('--inactive', 'send nothing until it is activated')
    .addHelpText('after', '\nFor a receiver with a user name and password, use POST /webhook-subscriptions.')
    .action(create);

export const deleteCommand = (): Command =>
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

/** As the contract says. Without the URL in the message: it may have a password in it. */
function url(text: string): string {
  const ajv = createAjv(loadContract().document, { verbose: true });
  const check = compileAt(ajv, '/components/schemas/WebhookSubscriptionCreate/properties/url');
  if (!check(text) || !isCallable(text)) {
    const [fault] = createTranslator(ajv)(check.errors ?? [], 'body');
    throw new OperatorFault(
      `The URL ${fault?.message ?? 'must have a host that is a valid name or IP address'}.`,
    );
  }
  return text;
}

interface Options {
  merchantAccount: string;
  inactive?: boolean;
}

async function create(given: string, { merchantAccount, inactive = false }: Options): Promise<void> {
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
export function warnIfUndeliverable(id: string, address: string, config: Config): void {
  const reason = isCallable(address) ? whyUndeliverable(new URL(address), urlRules(config)) : undefined;
  if (reason !== undefined)
    console.error(forOperator(`Nothing can be delivered to ${id}: ${reason}. See: docs/guides/webhooks.md`));
}

export const noSubscription = (id: string): OperatorFault =>
  new OperatorFault(`There is no subscription ${id}. See: ${call('webhooks list')}`);
