// A card: the sandbox's test numbers choose its status. The response is the example with that status, filled with the values
// of the request.
import { randomUUID } from 'node:crypto';
import type { components } from '../../generated/types.ts';
import type { Input } from '../../server/kit/contract/handler-types.ts';
import { ApiError } from '../../server/kit/errors.ts';
import { hostFaults } from '../../server/kit/rules/values.ts';
import { deriveKeys } from '../../server/kit/secrets/derive-keys.ts';
import { describeSimulatedCard, sandboxStatus } from '../../server/providers/simulated.ts';
import {
  binOf,
  fingerprintOf,
  lastFour,
  schemeOf,
  unusable,
} from '../../server/resources/payment-methods/rules.ts';
import { successExamples, type MockOperation } from '../operations.ts';
import { accountId, scenarioOf, type ChooseOutcome, type MockRequest } from './outcome.ts';

/** Not a secret: the mock's fingerprints only have to be equal for equal cards of an account. */
const keysOf = (account: string) => deriveKeys(Buffer.from(`mock ${account}`));

type PaymentMethod = components['schemas']['PaymentMethod'];
type Body = Input<'createPaymentMethod'>['body'];

export const createPaymentMethod: ChooseOutcome = (request) => {
  const { operation, now } = request;
  const body = request.body as Body;
  const detail = hostFaults('redirect_url', body.redirect_url);
  if (detail.length > 0) throw new ApiError('unprocessable', { detail });
  // The mock stores nothing, so 404 and 409 happen only for the contract's own request examples.
  const errorScenario = scenarioOf(operation, body, (status) => status >= 400);
  if (errorScenario) return errorScenario;
  if (body.buyer_external_identifier !== undefined && isMissingBuyer(operation, body))
    return {
      status: 404,
      example: 'not_found',
      why: "the buyer is the unknown one of the contract's examples",
    };
  const { status, why } = decideStatus(body, now);
  const examples = successExamples(operation);
  const fitting = examples.find(({ value }) => (value as PaymentMethod).status === status) ?? examples[0];
  return {
    status: operation.successStatus,
    example: fitting?.example,
    why,
    // The cast is safe: loading the contract validated every example against its schema.
    fillExample: (example) => fillExample(example as PaymentMethod, body, request, status),
  };
};

const isMissingBuyer = ({ requestExamples }: MockOperation, { buyer_external_identifier }: Body) =>
  (requestExamples.get('not_found') as Body | undefined)?.buyer_external_identifier ===
  buyer_external_identifier;

function decideStatus(body: Body, now: Date): { status: PaymentMethod['status']; why: string } {
  const fault = unusable(body, now);
  if (fault) return { status: 'failed', why: fault };
  const status = sandboxStatus(body.number);
  return { status, why: `the card number leads to ${status}` };
}

function fillExample(
  example: PaymentMethod,
  body: Body,
  request: MockRequest,
  status: PaymentMethod['status'],
): PaymentMethod {
  const { account, now } = request;
  const owner = accountId(account) ?? example.merchant_account_id;
  const id = randomUUID();
  const time = now.toISOString();
  return {
    ...example,
    id,
    status,
    merchant_account_id: owner,
    external_identifier: body.external_identifier ?? null,
    buyer: buyerOf(request, body),
    expiration_date: body.expiration_date,
    label: lastFour(body.number),
    scheme: schemeOf(body.number),
    fingerprint: status === 'failed' ? null : fingerprintOf(keysOf(owner), body.number),
    details: { bin: binOf(body.number), ...describeSimulatedCard(body.number) },
    approval_url: example.approval_url && approvalUrl(example.approval_url, id, body.redirect_url),
    created_at: time,
    updated_at: time,
  };
}

// The mock keeps no state, so the approval URL itself contains the redirect URL.
function approvalUrl(example: string, id: string, redirect: string | null | undefined): string {
  const url = new URL(id, example);
  if (redirect) url.searchParams.set('redirect_url', redirect);
  return url.href;
}

/** Every buyer exists: it is the buyer of the examples with the identifier that was sent. */
function buyerOf({ operation, account }: MockRequest, body: Body): PaymentMethod['buyer'] {
  const { buyer_id: id, buyer_external_identifier: external } = body;
  if (id === undefined && external === undefined) return null;
  const [buyer] = successExamples(operation).flatMap(({ value }) => (value as PaymentMethod).buyer ?? []);
  if (!buyer) return null;
  return {
    ...buyer,
    merchant_account_id: accountId(account) ?? buyer.merchant_account_id,
    ...(id === undefined ? {} : { id }),
    ...(external === undefined ? {} : { external_identifier: external }),
  };
}
