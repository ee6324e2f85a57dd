// Webhook subscriptions: a list that shows secrets only to tokens that may also create subscriptions, as the service does.
import { operations } from '../../generated/operations.ts';
import type { components } from '../../generated/types.ts';
import { isAllowed } from '../../server/kit/access/roles/rules.ts';
import { list } from './list.ts';
import type { ChooseOutcome } from './outcome.ts';

type Page = components['schemas']['WebhookSubscriptionCollection'];

export const listWebhookSubscriptions: ChooseOutcome = (request) => {
  const { scopes } = request;
  const outcome = list(request);
  const { fillExample } = outcome;
  if (!fillExample || isAllowed(operations.createWebhookSubscription.scopes, scopes, ['*.write']))
    return outcome;
  return {
    ...outcome,
    fillExample: (example) => {
      const page = fillExample(example) as Page;
      return { ...page, items: page.items.map((item) => ({ ...item, secret: null })) };
    },
  };
};
