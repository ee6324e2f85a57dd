import type { Handler, Result } from '../../generated/operations.ts';
import { createSubscription } from '../actions/webhook-subscriptions.ts';
import { TooManySubscriptions } from '../domain/subscription-limits.ts';
import { isSchemeAllowed } from '../domain/web-address.ts';
import { ApiError } from '../errors.ts';
import { presentSubscription } from '../present/webhook-subscription.ts';
import type { WriteDeps } from './deps.ts';

export const createWebhookSubscription: Handler<'createWebhookSubscription', WriteDeps> = (
  { body },
  { environment, selection, vault, inUnitOfWork },
): Promise<Result<'createWebhookSubscription'>> => {
  if (!isSchemeAllowed(body.url, environment))
    throw refusal('url', 'must start with https:// in production', 'value_error.url.scheme');
  const { url, active, authentication = null } = body;
  const merchant_account_id = selection.kind === 'one' ? selection.id : null;
  return inUnitOfWork(async (unit): Promise<Result<'createWebhookSubscription'>> => {
    const subscription = { merchant_account_id, url, active, authentication };
    const { row, secret } = await createSubscription(unit, subscription, vault).catch(refuse);
    return {
      status: 201,
      body: presentSubscription(row, secret, authentication?.password ?? '', unit.now),
    };
  });
};

const refusal = (property: string, msg: string, type: string) =>
  new ApiError('unprocessable', { detail: [{ loc: ['body', property], msg, type }] });

function refuse(error: unknown): never {
  if (error instanceof TooManySubscriptions) throw refusal('active', error.message, 'value_error.too_many');
  throw error;
}
