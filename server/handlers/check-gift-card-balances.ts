import type { Handler, Input, Result } from '../kit/contract/handler-types.ts';
import { ApiError } from '../kit/errors.ts';
import { isTimeout } from '../providers/call.ts';
import type { Balance, GiftCard } from '../providers/gift-cards.ts';
import type { GuardedProviders } from '../providers/index.ts';
import { findGiftCards } from '../resources/gift-cards/queries.ts';
import { presentGiftCardBalance } from '../resources/gift-cards/rules.ts';
import { pinLimit, triedPin } from '../resources/number-limits/rules.ts';
import { accountOf, type Deps } from './deps.ts';

type Items = Input<'checkGiftCardBalances'>['body']['items'];

/** In the order of the request; `card` is undefined for a stored card that this account does not have. */
interface Wanted {
  id: string | null;
  card: GiftCard | undefined;
}

export const checkGiftCardBalances: Handler<'checkGiftCardBalances', Deps> = async (
  { body },
  deps,
): Promise<Result<'checkGiftCardBalances'>> => {
  const merchant_account_id = accountOf(deps);
  const wanted = await findCards(body.items, merchant_account_id, deps);
  const { giftCards } = deps.providers;
  // Before PINs are counted: without a look-up, a caller cannot guess one.
  if (!giftCards && wanted.some(({ card }) => card))
    throw new ApiError('bad_gateway', { reason: 'there is no gift card provider' });
  const refused = await findRefused(wanted, merchant_account_id, deps);
  const cards = wanted.flatMap((one) => (refused.has(one) ? [] : (one.card ?? [])));
  const balances = giftCards && cards.length > 0 ? await lookUp(giftCards, cards, deps) : [];
  let next = 0;
  const items = wanted.map((one) => {
    const { id, card } = one;
    const balance = refused.has(one) ? tooManyPins : card && balances[next++];
    return presentGiftCardBalance({ id, merchant_account_id, number: card?.number, balance });
  });
  return { status: 200, body: { items } };
};

const tooManyPins: Balance = { errorCode: 'suspected_fraud', rawCode: null, rawMessage: null };

/** The PIN of a stored card is not the caller's guess. */
async function findRefused(
  wanted: Wanted[],
  account: string,
  { db, keysOf, recordNumbers }: Deps,
): Promise<Set<Wanted>> {
  const keys = await keysOf(db, account);
  const given = wanted.flatMap((one) =>
    one.id === null && one.card ? [{ one, tried: triedPin(keys, one.card) }] : [],
  );
  const pins = given.map(({ tried }) => tried);
  const waits = await recordNumbers(pins, pinLimit);
  return new Set(given.flatMap(({ one }, index) => (waits[index] === undefined ? [] : [one])));
}

async function findCards(items: Items, owner: string, { db, vault }: Deps): Promise<Wanted[]> {
  const ids = items.flatMap((item) => ('id' in item ? [item.id] : []));
  const stored = new Map((await findGiftCards(db, owner, ids)).map((row) => [row.id, row]));
  return items.map((item) => {
    if (!('id' in item)) return { id: null, card: item };
    const id = item.id.toLowerCase();
    const row = stored.get(id);
    const card = row && {
      number: vault.open(row.number_sealed, { purpose: 'gift-card-number', owner, id }),
      pin: vault.open(row.pin_sealed, { purpose: 'gift-card-pin', owner, id }),
    };
    return { id, card };
  });
}

/** The failure of one card is part of its balance; a failure of the provider is the whole call's. */
async function lookUp(
  giftCards: NonNullable<GuardedProviders['giftCards']>,
  cards: GiftCard[],
  deps: Deps,
): Promise<Balance[]> {
  try {
    return await giftCards(cards, { merchantAccountId: accountOf(deps), requestId: deps.requestId });
  } catch (cause) {
    const code = isTimeout(cause) ? 'gateway_timeout' : 'bad_gateway';
    throw new ApiError(code, { reason: 'the gift card provider failed', cause });
  }
}
