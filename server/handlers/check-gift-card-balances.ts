import type { Handler, Input, Result } from '../../generated/operations.ts';
import type { components } from '../../generated/types.ts';
import { giftCardBin, type Balance, type GiftCard } from '../domain/gift-cards.ts';
import { ApiError } from '../errors.ts';
import { accountOf, type Deps } from './deps.ts';

type Item = components['schemas']['GiftCardBalance'];

// Known by its place in the request; `card` is undefined for a stored card that this account does not have.
interface Asked {
  id: string | null;
  card: GiftCard | undefined;
}

export const checkGiftCardBalances: Handler<'checkGiftCardBalances', Deps> = async (
  { body },
  deps,
): Promise<Result<'checkGiftCardBalances'>> => {
  const account = accountOf(deps);
  const asked = await findCards(body.items, account, deps);
  const cards = asked.flatMap(({ card }) => card ?? []);
  const balances = cards.length === 0 ? [] : await askProvider(cards, deps);
  let next = 0;
  const items = asked.map(({ id, card }) => present(id, account, card, card && balances[next++]));
  return { status: 200, body: { items } };
};

async function findCards(
  items: Input<'checkGiftCardBalances'>['body']['items'],
  account: string,
  deps: Deps,
): Promise<Asked[]> {
  const { store, vault } = deps;
  const stored = await store.findGiftCards(
    account,
    items.flatMap((item) => ('id' in item ? [item.id] : [])),
  );
  const byId = new Map(stored.map((row) => [row.id, row]));
  return items.map((item) => {
    if (!('id' in item)) return { id: null, card: item };
    const id = item.id.toLowerCase();
    const row = byId.get(id);
    const card = row && {
      number: vault.open(row.number_sealed, 'gift-card'),
      pin: vault.open(row.pin_sealed, 'gift-card'),
    };
    return { id, card };
  });
}

// A failure of one card is that item's; a failure of the provider is the whole call's.
async function askProvider(
  cards: GiftCard[],
  { giftCards, giftCardMilliseconds }: Deps,
): Promise<readonly Balance[]> {
  const signal = AbortSignal.timeout(giftCardMilliseconds);
  let balances: readonly Balance[];
  try {
    balances = await Promise.race([giftCards(cards, signal), aborted(signal)]);
  } catch (cause) {
    throw new ApiError(signal.aborted ? 504 : 502, { reason: 'the gift card provider failed', cause });
  }
  if (balances.length !== cards.length || !balances.every(makesSense)) {
    throw new ApiError(502, { reason: 'the gift card provider answered nonsense' });
  }
  return balances;
}

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error('timeout'));
    });
  });

const makesSense = (balance: Balance): boolean =>
  'errorCode' in balance ||
  (Number.isSafeInteger(balance.balance) && balance.balance >= 0 && /^[A-Z]{3}$/.test(balance.currency));

function present(
  id: string | null,
  account: string,
  card: GiftCard | undefined,
  balance: Balance | undefined,
): Item {
  const known = card ? giftCardBin(card.number) : { bin: null, sub_bin: null, last4: null };
  const item = { type: 'gift-card' as const, id, merchant_account_id: account, ...known };
  if (balance && 'balance' in balance) {
    return {
      ...item,
      expiration_date: balance.expirationDate,
      balance: balance.balance,
      currency: balance.currency,
    };
  }
  return {
    ...item,
    expiration_date: null,
    balance: null,
    currency: null,
    balance_error_code: balance?.errorCode ?? 'invalid_gift_card',
    balance_raw_error_code: balance?.rawCode ?? null,
    balance_raw_error_message: balance?.rawMessage ?? null,
  };
}
