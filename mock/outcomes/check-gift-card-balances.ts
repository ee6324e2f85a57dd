// Gift cards: numbers and PINs choose the balance or the failure, by the sandbox's own table. The stored cards are those of
// the contract's examples.
import type { components } from '../../generated/types.ts';
import type { Input } from '../../server/kit/contract/handler-types.ts';
import { readBalances } from '../../server/providers/gift-cards.ts';
import { sandboxBalance, slowMilliseconds, wholeCallPins } from '../../server/providers/simulated.ts';
import { presentGiftCardBalance } from '../../server/resources/gift-cards/rules.ts';
import { successExamples } from '../operations.ts';
import { accountId, type ChooseOutcome } from './outcome.ts';

type Balance = components['schemas']['GiftCardBalance'];

export const checkGiftCardBalances: ChooseOutcome = ({ operation, body, account }) => {
  const { items } = body as Input<'checkGiftCardBalances'>['body'];
  const cards = items.flatMap((item) => ('pin' in item ? [item] : []));
  const pins = new Set(cards.map(({ pin }) => pin));
  if (pins.has(wholeCallPins.silence))
    return { status: 504, example: 'gateway_timeout', why: `PIN ${wholeCallPins.silence}` };
  const delayMilliseconds = pins.has(wholeCallPins.slow) ? slowMilliseconds : 0;
  if (pins.has(wholeCallPins.nonsense))
    return { status: 502, example: 'bad_gateway', why: `PIN ${wholeCallPins.nonsense}`, delayMilliseconds };
  const merchant_account_id = accountId(account) ?? '';
  const stored = successExamples(operation)
    .flatMap(({ value }) => (value as { items: Balance[] }).items)
    .filter((item) => item.merchant_account_id === merchant_account_id);
  return {
    status: operation.successStatus,
    why: 'numbers and PINs choose the balances',
    delayMilliseconds,
    fillExample: () => {
      // As the service reads them: number and PIN of every card of the call are masked.
      const found = readBalances(cards, cards.map(sandboxBalance));
      let next = 0;
      return {
        items: items.map((item) => {
          if ('pin' in item)
            return presentGiftCardBalance({
              id: null,
              merchant_account_id,
              number: item.number,
              balance: found[next++],
            });
          const id = item.id.toLowerCase();
          const unknown = { id, merchant_account_id, number: undefined, balance: undefined };
          return stored.find((one) => one.id === id) ?? presentGiftCardBalance(unknown);
        }),
      };
    },
  };
};
