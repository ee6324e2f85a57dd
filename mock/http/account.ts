// The merchant account. The mock has the two accounts of a new sandbox; any other gives 404, as in the sandbox.
import { createMerchantAccount, unknownMerchantAccount } from '../../server/kit/access/select.ts';

const accountIds = ['default', 'marketplace'] as const;

export const account = createMerchantAccount({
  first: () => Promise.resolve({ id: accountIds[0] }),
  find(id) {
    if (!accountIds.some((one) => one === id))
      throw unknownMerchantAccount(`unknown merchant account; the mock has ${accountIds.join(' and ')}`);
    return Promise.resolve({ id });
  },
});
