// A webhook subscription: the example with the values of the request. The secret is always that of the example, so a
// receiver has to be configured only once. Plain http is accepted, as in the sandbox; only production refuses it with 422.
import { randomUUID } from 'node:crypto';
import type { components } from '../../generated/types.ts';
import type { Input } from '../../server/kit/contract/handler-types.ts';
import { ApiError } from '../../server/kit/errors.ts';
import { hostFaults } from '../../server/kit/rules/values.ts';
import { successExamples } from '../operations.ts';
import { accountId, type ChooseOutcome } from './outcome.ts';

type Subscription = components['schemas']['WebhookSubscription'];

export const createWebhookSubscription: ChooseOutcome = ({ operation, body, account }) => {
  const { url, active, authentication } = body as Input<'createWebhookSubscription'>['body'];
  const detail = hostFaults('url', url);
  if (detail.length > 0) throw new ApiError('unprocessable', { detail });
  const examples = successExamples(operation);
  const login = authentication ?? null;
  const fitting = examples.find(
    ({ value }) => ((value as Subscription).authentication === null) === (login === null),
  );
  return {
    status: operation.successStatus,
    example: (fitting ?? examples[0])?.example,
    why: `a subscription ${login ? 'with' : 'without'} authentication`,
    fillExample: (example) => ({
      ...(example as Subscription),
      id: randomUUID(),
      url,
      active,
      authentication: login && { ...login, password: '********' },
      merchant_account_id: accountId(account),
    }),
  };
};
