/**
 * The allowed differences between mock and service, with reasons: the mock has no state and no secrets, and some features only
 * the mock has. Each entry names the requests and the two answers that it is about. The suite fails for an entry that no
 * request needs.
 */
import { operations, type OperationId } from '../../../generated/operations.ts';
import { matches } from '../../support/contract-check.ts';
import { bodySchemaOf, schemaOf } from '../../support/requests.ts';
import type { Answer, Exchange, Wire } from './parity.exchange.ts';
import { table } from './support.ts';

export interface Allowed {
  name: string;
  why: string;
  when: (exchange: Exchange) => boolean;
}

const statuses = ({ mock, service }: Exchange) => `${mock.status} ${service.status}`;
const to = (path: string, { method, target }: Wire) => `${method} ${target.split('?')[0] ?? ''}` === path;
const sent = ({ body }: Wire) => JSON.parse(String(body)) as Record<string, unknown>;
const queryOf = ({ target }: Wire) => new URLSearchParams(target.split('?')[1]);
const cursorOf = (wire: Wire) => queryOf(wire).get('cursor');

/** Of another record: `buyer_id`, but neither `id` nor `external_identifier`. */
const reference = /._(id|external_identifier)$/;

const namesRecord = ({ method, target, body }: Wire) =>
  table.some(
    ([, one]) =>
      one.method.toUpperCase() === method &&
      matches(one.path, target.split('?')[0] ?? '') &&
      (one.path.includes('{') || /"\w+_(id|external_identifier)":\s*"/.test(String(body))),
  );

/** Mock and service have the same merchant accounts. */
const isOfAccount = ({ body }: Answer) =>
  JSON.stringify(body).includes('"pointer":"/x-service-merchant-account-id"');

/** Whether none of its requests can succeed unless some record is stored. */
export const needsRecord = (id: OperationId): boolean =>
  operations[id].path.includes('{') ||
  (schemaOf(bodySchemaOf(id) ?? {}) as { required?: string[] }).required?.some((name) =>
    reference.test(name),
  ) === true;

export const allowed: Allowed[] = [
  {
    name: 'a taken identifier',
    why: 'The mock stores nothing, so nothing is taken; 409 is there with Prefer and with the example "duplicate".',
    when: (one) =>
      statuses(one) === '201 409' &&
      to('POST /payment-methods', one.wire) &&
      typeof sent(one.wire).external_identifier === 'string',
  },
  {
    name: 'the example of a taken identifier',
    why: 'The contract shows this very request with 409; at the service it is taken only after somebody stored it.',
    when: (one) =>
      statuses(one) === '409 201' &&
      to('POST /payment-methods', one.wire) &&
      sent(one.wire).external_identifier === 'card-8841',
  },
  {
    name: 'a record that is not stored',
    why: 'The mock stores nothing, so it has every record that a path or a body names.',
    when: (one) =>
      one.mock.status < 300 &&
      one.service.status === 404 &&
      one.wire.who.kind === 'administrator' &&
      namesRecord(one.wire) &&
      !isOfAccount(one.service),
  },
  {
    name: 'too many calls',
    why: 'The mock does not count: whoever builds a page reloads it more than 50 times a minute. 429 is there with Prefer.',
    when: (one) =>
      statuses(one) === '200 429' &&
      to('POST /gift-cards/balances', one.wire) &&
      one.wire.who.says.includes('embed'),
  },
  {
    name: 'a token that nobody signed',
    why: 'The mock has no keys: it reads tokens and verifies none, so any text will do.',
    when: (one) => one.wire.who.kind === 'stranger' && one.service.status === 401 && one.mock.status === 200,
  },
  {
    name: 'a key pair whose roles do not reach',
    why: 'Roles belong to key pairs, which the mock does not know.',
    when: (one) => one.wire.who.kind === 'restricted' && statuses(one) === '200 403',
  },
  {
    name: 'an account beyond the key pair',
    why: 'Which accounts a key pair reaches is stored; at the mock every caller reaches both.',
    when: (one) => one.wire.who.kind === 'restricted' && statuses(one) === '200 404',
  },
  {
    name: 'a subscription for all accounts by a pair that reaches some',
    why: 'Which accounts a key pair reaches is stored; at the mock every caller reaches both.',
    when: (one) =>
      one.wire.who.kind === 'restricted' &&
      statuses(one) === '201 403' &&
      one.wire.headers['X-Service-Merchant-Account-ID'] === '*',
  },
  {
    name: 'the idempotency key of another key pair',
    why: 'The mock knows no key pairs, so all callers share their keys.',
    when: (one) =>
      one.wire.who.kind === 'restricted' &&
      statuses(one) === '422 201' &&
      'Idempotency-Key' in one.wire.headers,
  },
  {
    name: 'a cursor of the mock or of the examples',
    why: 'Whoever issued a cursor is who understands it; the mock also follows those of the contract’s examples.',
    when: (one) => statuses(one) === '200 422' && cursorOf(one.wire) !== null,
  },
  {
    name: 'a cursor of the service',
    why: 'Whoever issued a cursor is who understands it: the service’s are sealed with its key.',
    when: (one) => statuses(one) === '422 200' && cursorOf(one.wire) !== null,
  },
  {
    name: 'Prefer',
    why: 'It is how a caller of the mock chooses an answer; the service ignores it, as RFC 7240 has it.',
    when: (one) =>
      /^(code|example|delay|dynamic)=/.test(String(one.wire.headers.Prefer)) && one.service.status < 300,
  },
  {
    name: 'the approval page of a card that is not there',
    why: 'The mock stores no cards, so there is a page for each.',
    when: (one) => statuses(one) === '200 404' && one.wire.target.startsWith('/sandbox/approvals/'),
  },
];

/** For test/service/mock/parity.filters.test.ts: filters that find other transactions at the service, by the name of the filter. */
export const allowedFilters: Allowed[] = [
  ['is_subsequent_payment', 'Whether a payment is a subsequent one'],
  ['merchant_initiated', 'Whether the merchant initiated a payment'],
  ['metadata', 'Metadata'],
  ['payment_service_transaction_id', 'The payment service transaction ID'],
  ['payment_source', 'The source of a payment'],
].map(([name = '', what = '']) => ({
  name,
  why: `${what} is stored but not shown in a transaction, so the mock's items cannot answer it; the mock ignores the filter.`,
  when: (one) => statuses(one) === '200 200' && queryOf(one.wire).has(name),
}));
