import { randomBytes } from 'node:crypto';
import type { Handler, Result } from '../../generated/operations.ts';
import { presentSubscription } from '../present/webhook-subscription.ts';
import { ApiError } from '../errors.ts';
import type { Deps } from './deps.ts';

export const createWebhookSubscription: Handler<'createWebhookSubscription', Deps> = async (
  { body },
  { store, vault, environment, selection, now },
): Promise<Result<'createWebhookSubscription'>> => {
  if (environment === 'production' && !body.url.startsWith('https://')) {
    throw new ApiError(422, {
      detail: [
        {
          loc: ['body', 'url'],
          msg: 'must start with https:// in production',
          type: 'value_error.url.scheme',
        },
      ],
    });
  }
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const login = body.authentication ?? null;
  const row = await store.createWebhookSubscription({
    merchant_account_id: selection.kind === 'one' ? selection.id : null,
    active: body.active,
    url: body.url,
    username: login && login.username,
    password_sealed: login && vault.seal(login.password, 'webhook'),
    secret_sealed: vault.seal(secret, 'webhook'),
  });
  return { status: 201, body: presentSubscription(row, secret, login?.password ?? '', now()) };
};
