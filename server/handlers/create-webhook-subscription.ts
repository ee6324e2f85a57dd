import type { Handler, Result } from '../../generated/operations.ts';
import { createSubscription } from '../actions/webhook-subscriptions.ts';
import { ApiError } from '../errors.ts';
import { presentSubscription } from '../present/webhook-subscription.ts';
import type { WriteDeps } from './deps.ts';

export const createWebhookSubscription: Handler<'createWebhookSubscription', WriteDeps> = (
  { body },
  { environment, selection, vault, inUnitOfWork },
): Promise<Result<'createWebhookSubscription'>> => {
  if (environment === 'production' && !body.url.startsWith('https://')) {
    throw new ApiError('unprocessable', {
      detail: [
        {
          loc: ['body', 'url'],
          msg: 'must start with https:// in production',
          type: 'value_error.url.scheme',
        },
      ],
    });
  }
  const { url, active, authentication = null } = body;
  const merchant_account_id = selection.kind === 'one' ? selection.id : null;
  return inUnitOfWork(async (unit): Promise<Result<'createWebhookSubscription'>> => {
    const subscription = { merchant_account_id, url, active, authentication };
    const { row, secret } = await createSubscription(unit, subscription, vault);
    return {
      status: 201,
      body: presentSubscription(row, secret, authentication?.password ?? '', unit.now),
    };
  });
};
