import { randomUUID } from 'node:crypto';
import type { Handler, Input, Result } from '../../generated/operations.ts';
import { binOf, hasExpired, lastFour, passesLuhn, schemeOf } from '../domain/cards.ts';
import { presentPaymentMethod } from '../present/payment-method.ts';
import type { PaymentMethodStatus } from '../domain/state-machine.ts';
import { ApiError } from '../errors.ts';
import type { BuyerRow } from '../store/buyers.ts';
import { accountOf, type Deps } from './deps.ts';

type Body = Input<'createPaymentMethod'>['body'];

export const createPaymentMethod: Handler<'createPaymentMethod', Deps> = async (
  { body },
  deps,
): Promise<Result<'createPaymentMethod'>> => {
  const { store, vault, fingerprint, publicUrl } = deps;
  const account = accountOf(deps);
  const buyer = await findBuyer(body, account, deps);
  const external_identifier = body.external_identifier ?? null;
  const outcome = judge(body, deps);
  const made = await store.createPaymentMethod({
    id: randomUUID(),
    merchant_account_id: account,
    buyer_id: buyer?.id ?? null,
    external_identifier,
    status: outcome.status,
    scheme: schemeOf(body.number),
    bin: binOf(body.number),
    card_type: outcome.cardType,
    card_issuer_name: outcome.issuer,
    expiration_date: body.expiration_date,
    label: lastFour(body.number),
    fingerprint: fingerprint(body.number),
    // A card that cannot be used is stored without its number. The security code is used and stored nowhere.
    number_sealed: outcome.status === 'failed' ? null : vault.seal(body.number, 'card'),
    redirect_url: body.redirect_url ?? null,
  });
  if (!made) {
    const existing =
      external_identifier === null
        ? undefined
        : await store.findByExternalIdentifier(account, external_identifier);
    throw new ApiError(409, { resourceId: existing?.id ?? null });
  }
  await deps.announceCreated(made);
  return { status: 201, body: presentPaymentMethod(made, buyer, publicUrl) };
};

async function findBuyer(body: Body, account: string, { store }: Deps): Promise<BuyerRow | undefined> {
  const { buyer_id: id, buyer_external_identifier: external_identifier } = body;
  if (id === undefined && external_identifier === undefined) return undefined;
  const by = id === undefined ? { external_identifier: external_identifier ?? '' } : { id };
  const buyer = await store.findBuyer(account, by);
  if (!buyer) throw new ApiError(404, { reason: 'unknown buyer' });
  return buyer;
}

interface Outcome {
  status: PaymentMethodStatus;
  cardType: string | null;
  issuer: string | null;
}

function judge({ number, expiration_date }: Body, { now, cardOutcome }: Deps): Outcome {
  const known = cardOutcome(number);
  const about = { cardType: known?.cardType ?? null, issuer: known?.issuer ?? null };
  const usable = passesLuhn(number) && !hasExpired(expiration_date, now());
  return { ...about, status: usable ? (known?.status ?? 'succeeded') : 'failed' };
}
