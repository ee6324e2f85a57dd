import type { Handler, Result } from '../kit/contract/handler-types.ts';
import { ApiError } from '../kit/errors.ts';
import { createSubscription, isSchemeAllowed } from '../kit/events/subscriptions/changes.ts';
import { presentSubscription } from '../kit/events/subscriptions/table.ts';
import { hostFaults } from '../kit/rules/values.ts';
import type { WriteDeps } from './deps.ts';

export const createWebhookSubscription: Handler<'createWebhookSubscription', WriteDeps> = (
  { body },
  { environment, selection, vault, inUnitOfWork },
): Promise<Result<'createWebhookSubscription'>> => {
  const detail = hostFaults('url', body.url);
  if (!isSchemeAllowed(body.url, environment))
    detail.push(fault('url', 'must start with https:// in production', 'value_error.url.scheme'));
  if (detail.length > 0) throw new ApiError('unprocessable', { detail });
  const { url, active, authentication = null } = body;
  const merchant_account_id = selection.kind === 'one' ? selection.id : null;
  return inUnitOfWork(async (unit): Promise<Result<'createWebhookSubscription'>> => {
    const subscription = { merchant_account_id, url, active, authentication };
    const made = await createSubscription(unit, subscription, vault);
    if (made.kind === 'tooMany')
      throw new ApiError('unprocessable', {
        detail: [fault('active', made.reason, 'value_error.too_many')],
      });
    return { status: 201, body: presentSubscription(made.row, made.secret, false) };
  });
};

const fault = (property: string, msg: string, type: string) => ({ loc: ['body', property], msg, type });
