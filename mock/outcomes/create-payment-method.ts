// A card: the sandbox's numbers choose its status, and the answer is the example of that status with what was sent in it.
import { randomUUID } from 'node:crypto';
import type { Input } from '../../generated/operations.ts';
import type { components } from '../../generated/types.ts';
import { sandboxCards, sandboxIssuer } from '../../server/providers/simulated-values.ts';
import {
  binOf,
  fingerprintOf,
  lastFour,
  schemeOf,
  unusable,
} from '../../server/domain/cards.ts';
import { successes, type MockOperation } from '../operations.ts';
import { accountId, scenario, type Asked, type Choose } from './outcome.ts';

/** The mock has no key to keep: its fingerprints only tell whether two cards are the same. */
const noSecret = Buffer.from('mock');

type PaymentMethod = components['schemas']['PaymentMethod'];
type Body = Input<'createPaymentMethod'>['body'];

export const createPaymentMethod: Choose = (asked) => {
  const { operation, now } = asked;
  const body = asked.body as Body;
  // Nothing is stored, so nothing can be taken or missing, but in the contract's own scenarios.
  const refused = scenario(operation, body, (status) => status >= 400);
  if (refused) return refused;
  if (body.buyer_external_identifier !== undefined && isMissingBuyer(operation, body))
    return {
      status: 404,
      example: 'not_found',
      why: 'the buyer is the one that the contract says is not there',
    };
  const { status, why } = judge(body, now);
  const examples = successes(operation);
  const fitting = examples.find(({ value }) => (value as PaymentMethod).status === status) ?? examples[0];
  return {
    status: operation.success,
    example: fitting?.example,
    why,
    // The examples were proved against the schema, so this is the boundary where both meet.
    carry: (example) => carry(example as PaymentMethod, body, asked, status),
  };
};

const isMissingBuyer = ({ requests }: MockOperation, { buyer_external_identifier }: Body) =>
  (requests.get('not_found') as Body | undefined)?.buyer_external_identifier === buyer_external_identifier;

function judge(
  { number, expiration_date }: Body,
  now: Date,
): { status: PaymentMethod['status']; why: string } {
  const fault = unusable({ number, expiration_date }, now);
  if (fault) return { status: 'failed', why: fault };
  const known = sandboxCards[number];
  if (known) return { status: known.status, why: `a documented card number: ${known.status}` };
  return { status: 'succeeded', why: 'any other card number succeeds' };
}

function carry(
  example: PaymentMethod,
  body: Body,
  asked: Asked,
  status: PaymentMethod['status'],
): PaymentMethod {
  const { account, now } = asked;
  const id = randomUUID();
  const time = now.toISOString();
  const known = sandboxCards[body.number];
  return {
    ...example,
    id,
    status,
    merchant_account_id: accountId(account) ?? example.merchant_account_id,
    external_identifier: body.external_identifier ?? null,
    buyer: buyerOf(asked, body),
    expiration_date: body.expiration_date,
    label: lastFour(body.number),
    scheme: schemeOf(body.number),
    fingerprint: fingerprintOf(noSecret, body.number),
    details: {
      bin: binOf(body.number),
      card_type: known?.cardType ?? null,
      card_issuer_name: known ? sandboxIssuer : null,
    },
    approval_url: example.approval_url && approvalUrl(example.approval_url, id, body.redirect_url),
    created_at: time,
    updated_at: time,
  };
}

// Nothing is kept, so the way back to the shop travels in the address.
function approvalUrl(example: string, id: string, redirect: string | null | undefined): string {
  const url = new URL(id, example);
  if (redirect) url.searchParams.set('redirect_url', redirect);
  return url.href;
}

/** Every buyer exists: the examples' one, under the name that was sent. */
function buyerOf({ operation, account }: Asked, body: Body): PaymentMethod['buyer'] {
  const { buyer_id: id, buyer_external_identifier: external } = body;
  if (id === undefined && external === undefined) return null;
  const [buyer] = successes(operation).flatMap(({ value }) => (value as PaymentMethod).buyer ?? []);
  if (!buyer) return null;
  return {
    ...buyer,
    merchant_account_id: accountId(account) ?? buyer.merchant_account_id,
    ...(id === undefined ? {} : { id }),
    ...(external === undefined ? {} : { external_identifier: external }),
  };
}
