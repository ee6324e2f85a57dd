// Gift cards: numbers and PINs say what happens, by the sandbox's own table. A stored card is known when some example of
// the contract asks for it.
import type { Input } from '../../generated/operations.ts';
import type { components } from '../../generated/types.ts';
import { sandboxBalance, slowMilliseconds, wholeCallPins } from '../../server/providers/simulated-values.ts';
import { giftCardBin } from '../../server/domain/gift-cards.ts';
import { successes } from '../operations.ts';
import { accountId, type Choose } from './outcome.ts';

type Item = components['schemas']['GiftCardBalance'];
type Wanted = Input<'checkGiftCardBalances'>['body']['items'][number];

export const checkGiftCardBalances: Choose = ({ operation, body, account }) => {
  const { items } = body as Input<'checkGiftCardBalances'>['body'];
  const pins = new Set(items.flatMap((item) => ('pin' in item ? [item.pin] : [])));
  if (pins.has(wholeCallPins.silence))
    return { status: 504, example: 'gateway_timeout', why: `PIN ${wholeCallPins.silence}` };
  const waitMilliseconds = pins.has(wholeCallPins.slow) ? slowMilliseconds : 0;
  if (pins.has(wholeCallPins.nonsense))
    return { status: 502, example: 'bad_gateway', why: `PIN ${wholeCallPins.nonsense}`, waitMilliseconds };
  const merchant_account_id = accountId(account) ?? '';
  const stored = successes(operation)
    .flatMap(({ value }) => (value as { items: Item[] }).items)
    .filter((item) => item.merchant_account_id === merchant_account_id);
  return {
    status: operation.success,
    why: 'numbers and PINs say the balances',
    waitMilliseconds,
    carry: () => ({ items: items.map((item) => ({ ...balance(item, stored), merchant_account_id })) }),
  };
};

const noBalance = { expiration_date: null, balance: null, currency: null };

function balance(item: Wanted, stored: Item[]): Omit<Item, 'merchant_account_id'> {
  if ('id' in item) {
    const id = item.id.toLowerCase();
    const known = stored.find((one) => one.id === id);
    if (known) return known;
    const nothing = { bin: null, sub_bin: null, last4: null, ...noBalance };
    return { type: 'gift-card', id, ...nothing, ...failure('invalid_gift_card', null, null) };
  }
  const { number } = item;
  const card = {
    type: 'gift-card' as const,
    id: null,
    ...giftCardBin(number),
  };
  const found = sandboxBalance(item);
  if ('errorCode' in found)
    return { ...card, ...noBalance, ...failure(found.errorCode, found.rawCode, found.rawMessage) };
  return {
    ...card,
    expiration_date: found.expirationDate,
    balance: found.balance,
    currency: found.currency,
  };
}

const failure = (
  balance_error_code: components['schemas']['BalanceErrorCode'],
  balance_raw_error_code: string | null,
  balance_raw_error_message: string | null,
) => ({ balance_error_code, balance_raw_error_code, balance_raw_error_message });
