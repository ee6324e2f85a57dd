// The merchant account. The mock knows the two that every sandbox begins with; any other is answered 404, as there.
import { createMerchantAccount } from '../../server/http/merchant-account.ts';
import { ApiError } from '../../server/errors.ts';

const known = ['default', 'marketplace'] as const;

export const account = createMerchantAccount({
  first: () => Promise.resolve({ id: known[0] }),
  find(_own, id) {
    if (!known.some((one) => one === id))
      throw new ApiError('not_found', { reason: `unknown merchant account; the mock has ${known.join(' and ')}` });
    return Promise.resolve({ id });
  },
});
