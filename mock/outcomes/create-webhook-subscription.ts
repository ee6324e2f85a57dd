// A webhook subscription: the example with what was sent in it. Its secret is always the example's, so that a receiver can be
// set up once. Plain http is fine, as in the sandbox; only production answers it with 422.
import { randomUUID } from 'node:crypto';
import type { Input } from '../../generated/operations.ts';
import type { components } from '../../generated/types.ts';
import { successes } from '../operations.ts';
import { accountId, type Choose } from './outcome.ts';

type Subscription = components['schemas']['WebhookSubscription'];

export const createWebhookSubscription: Choose = ({ operation, body, account }) => {
  const { url, active, authentication } = body as Input<'createWebhookSubscription'>['body'];
  const examples = successes(operation);
  const login = authentication ?? null;
  const fitting = examples.find(
    ({ value }) => ((value as Subscription).authentication === null) === (login === null),
  );
  return {
    status: operation.success,
    example: (fitting ?? examples[0])?.example,
    why: `a subscription ${login ? 'with' : 'without'} authentication`,
    carry: (example) => ({
      ...(example as Subscription),
      id: randomUUID(),
      url,
      active,
      authentication: login,
      merchant_account_id: accountId(account),
    }),
  };
};
