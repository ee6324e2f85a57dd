// Gift cards: numbers and PINs choose the balance or the failure, by the sandbox's own table. The stored cards are those of
// the contract's examples.
import type { Input } from '../../generated/operations.ts';
import type { components } from '../../generated/types.ts';
import { sandboxBalance, slowMilliseconds, wholeCallPins } from '../../server/providers/simulated.ts';
import { giftCardBin } from '../../server/resources/gift-cards/rules.ts';
import { successExamples } from '../operations.ts';
import { accountId, type ChooseOutcome } from './outcome.ts';

type Balance = components['schemas']['GiftCardBalance'];
type RequestedCard = Input<'checkGiftCardBalances'>['body']['items'][number];

export const checkGiftCardBalances: ChooseOutcome = ({ operation, body, account }) => {
  const { items } = body as Input<'checkGiftCardBalances'>['body'];
  const pins = new Set(items.flatMap((item) => ('pin' in item ? [item.pin] : [])));
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
    fillExample: () => ({
      items: items.map((item) => ({ ...balanceOf(item, stored), merchant_account_id })),
    }),
  };
};

const noBalance = { expiration_date: null, balance: null, currency: null };

function balanceOf(item: RequestedCard, stored: Balance[]): Omit<Balance, 'merchant_account_id'> {
  if ('id' in item) {
    const id = item.id.toLowerCase();
    const storedCard = stored.find((one) => one.id === id);
    if (storedCard) return storedCard;
    const unknownCard = { bin: null, sub_bin: null, last4: null, ...noBalance };
    return { type: 'gift-card', id, ...unknownCard, ...failure('invalid_gift_card', null, null) };
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
