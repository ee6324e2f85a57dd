import { randomUUID } from 'node:crypto';
import type { Handler, Input, Result } from '../kit/contract/handler-types.ts';
import type { UnitOfWork } from '../kit/database/unit-of-work.ts';
import { ApiError } from '../kit/errors.ts';
import { hostFaults } from '../kit/rules/values.ts';
import { validateCard } from '../providers/cards.ts';
import { lockBuyer } from '../resources/buyers/queries.ts';
import type { BuyerRow } from '../resources/buyers/table.ts';
import { storeCard } from '../resources/payment-methods/changes.ts';
import { presentPaymentMethod } from '../resources/payment-methods/table.ts';
import { accountOf, type WriteDeps } from './deps.ts';

type Body = Input<'createPaymentMethod'>['body'];

export const createPaymentMethod: Handler<'createPaymentMethod', WriteDeps> = async (
  { body },
  deps,
): Promise<Result<'createPaymentMethod'>> => {
  const account = accountOf(deps);
  const { number, expiration_date, external_identifier = null, redirect_url = null } = body;
  const detail = hostFaults('redirect_url', redirect_url);
  if (detail.length > 0) throw new ApiError('unprocessable', { detail });
  // Before the unit of work. The security code is handed to the verifier and stored nowhere.
  const id = randomUUID();
  const verdict = await validate(id, body, deps);
  return deps.inUnitOfWork(async (unit): Promise<Result<'createPaymentMethod'>> => {
    const buyer = await namedBuyer(unit, account, body);
    const card = {
      id,
      merchant_account_id: account,
      buyer_id: buyer?.id ?? null,
      external_identifier,
      number,
      expiration_date,
      redirect_url,
      ...verdict,
    };
    const stored = await storeCard(unit, card, deps, buyer);
    if (stored.kind === 'taken') {
      const message = 'is taken by another payment method of this merchant account';
      throw new ApiError('duplicate_record', {
        resourceId: stored.by,
        details: [
          { location: 'body', pointer: '/external_identifier', message, type: 'value_error.duplicate' },
        ],
      });
    }
    return { status: 201, body: presentPaymentMethod(stored.row, buyer, unit.publicUrl) };
  });
};

const validate = (id: string, { number, expiration_date, security_code = null }: Body, deps: WriteDeps) => {
  const { providers, requestId, now, warn } = deps;
  return validateCard(
    { number, expiration_date, security_code },
    {
      context: { merchantAccountId: accountOf(deps), requestId, paymentMethodId: id },
      providers,
      now: now(),
      warn: (message, err) => {
        warn(message, { paymentMethod: id, err });
      },
    },
  );
};

async function namedBuyer(unit: UnitOfWork, account: string, body: Body): Promise<BuyerRow | undefined> {
  const { buyer_id: id, buyer_external_identifier: external_identifier } = body;
  if (id === undefined && external_identifier === undefined) return undefined;
  const by = id === undefined ? { external_identifier: external_identifier ?? '' } : { id };
  const buyer = await lockBuyer(unit.db, account, by);
  if (buyer) return buyer;
  const pointer = id === undefined ? '/buyer_external_identifier' : '/buyer_id';
  const message = 'names no buyer of this merchant account';
  throw new ApiError('not_found', {
    details: [{ location: 'body', pointer, message, type: 'value_error.not_found' }],
  });
}
