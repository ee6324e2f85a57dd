// A handler that returns anything but a declared 2xx, or a wrong field, does not compile, nor does a missing handler.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describeTypes, type Piece } from '../support/types.ts';

const head = `
import type { Deps, WriteDeps } from '../../server/handlers/deps.ts';
import { readPage } from '../../server/handlers/deps.ts';
import { presentApiKeyPair } from '../../server/kit/access/key-pairs/table.ts';
import type { Page } from '../../server/kit/database/paging.ts';
import type { EventPayload } from '../../generated/operations.ts';
import type { Handler, Handlers, Input, Result, ResultAsJson } from '../../server/kit/contract/handler-types.ts';
declare const scheme: { type: 'card-scheme-definition'; id: 'visa'; icon_url: string; display_name: string };
declare const rest: Omit<Handlers, 'listTransactions'>;
declare const query: Input<'listTransactions'>['query'];
declare const deps: Deps;
`;

const pieces: Piece[] = [
  {
    name: 'a declared status with its body compiles',
    code: `export const h: Handler<'listCardSchemeDefinitions'> = () => Promise.resolve({ status: 200, body: { items: [scheme] } });`,
  },
  {
    name: 'a declared error is thrown: one that is returned does not compile',
    code: `export const h: Handler<'listCardSchemeDefinitions'> = async (): Promise<Result<'listCardSchemeDefinitions'>> =>
      ({ status: 403, body: { type: 'error', code: 'forbidden', status: 403, message: '', details: [] } });`,
    fault: /'403' is not assignable to type '200'/,
  },
  {
    name: 'an undeclared status does not compile',
    code: `export const h: Handler<'listCardSchemeDefinitions'> = () => Promise.resolve({ status: 202, body: { items: [scheme] } });`,
    fault: /202/,
  },
  {
    name: 'a missing field does not compile',
    code: `export const h: Handler<'listCardSchemeDefinitions'> = () =>
      Promise.resolve({ status: 200, body: { items: [{ type: 'card-scheme-definition', id: 'visa', icon_url: '' }] } });`,
    fault: /display_name/,
  },
  {
    name: 'a field that the contract does not have does not compile',
    code: `export const h: Handler<'listCardSchemeDefinitions'> = async (): Promise<Result<'listCardSchemeDefinitions'>> => ({ status: 200, body: { items: [], colour: 'blue' } });`,
    fault: /colour/,
  },
  {
    name: 'a value outside an enum does not compile',
    code: `export const h: Handler<'listCardSchemeDefinitions'> = async () => ({ status: 200, body: { items: [{ ...scheme, id: 'vsa' }] } });`,
    fault: /vsa/,
  },
  {
    name: 'nor does one that a unit of work returns, which would be committed',
    code: `export const h: Handler<'createPaymentMethod', WriteDeps> = (_input, { inUnitOfWork }): Promise<Result<'createPaymentMethod'>> =>
      inUnitOfWork(async () => ({ status: 409 as const, body: { type: 'error', code: 'duplicate_record', status: 409, message: '', details: [], resource_id: null } }));`,
    fault: /'409' is not assignable to type '201'/,
  },
  {
    name: 'the body of another operation does not compile',
    code: `declare const made: Result<'createWebhookSubscription'>;
export const h: Handler<'createPaymentMethod'> = async (): Promise<Result<'createPaymentMethod'>> => ({ status: 201, body: made.body });`,
    fault: /missing the following properties/,
  },
  {
    name: 'a list without next_cursor is told so, and nothing of JSON',
    code: `declare const rows: Parameters<typeof presentApiKeyPair>[0][];
export const h: Handler<'listApiKeyPairs'> = async (): Promise<Result<'listApiKeyPairs'>> =>
      ({ status: 200, body: { items: rows.map(presentApiKeyPair), limit: 1, previous_cursor: null } });`,
    fault: /^(?![^]*JsonBytes)[^]*Property 'next_cursor' is missing/,
  },
  {
    name: 'so is one whose items are JSON',
    code: `declare const items: ResultAsJson<'listTransactions'>['body']['items'];
export const h = async (): Promise<ResultAsJson<'listTransactions'>> => ({ status: 200, body: { items, limit: 1, previous_cursor: null } });`,
    fault: /Property 'next_cursor' is missing/,
  },
  {
    name: 'input has the types of the contract, with defaults filled in',
    code: `export const f = ({ query }: Input<'listTransactions'>): [number, string | undefined, ('processing' | string)[] | undefined] =>
      [query.limit, query.cursor, query.status];
    export const g = ({ body }: Input<'createWebhookSubscription'>): boolean => body.active;`,
  },
  {
    name: 'a parameter that may be missing must be checked',
    code: `export const f = ({ query }: Input<'listTransactions'>): number => query.amount_eq;`,
    fault: /undefined/,
  },
  {
    name: 'a parameter that the operation does not have does not compile',
    code: `export const f = ({ query }: Input<'listApiKeyPairs'>) => query.status;`,
    fault: /status/,
  },
  {
    name: 'an operation without a body has none',
    code: `export const f = ({ body }: Input<'listTransactions'>): undefined => body;`,
  },
  {
    name: 'a missing handler does not compile',
    code: `export const all: Handlers = { ...rest };`,
    fault: /listTransactions/,
  },
  {
    name: 'an operation that does not exist does not compile',
    code: `export type H = Handler<'listUnicorns'>;`,
    fault: /listUnicorns/,
  },
  {
    name: 'an event payload carries its resource',
    code: `export const f = (event: EventPayload<'transaction.updated'>): number => event.target.amount;`,
  },
  {
    name: 'a list is handed its filters with their types',
    code: `declare const read: (filters: { amount_eq?: number }) => Promise<Page<object>>;
export const f = () => readPage('listTransactions', query, deps, (_page, filters) => read(filters));`,
  },
  {
    name: 'the limit is no filter',
    code: `declare const read: (limit: number) => Promise<Page<object>>;
export const f = () => readPage('listTransactions', query, deps, (_page, { limit }) => read(limit));`,
    fault: /'limit' does not exist/,
  },
];

describeTypes('handler types', head, pieces);

it('the generated tables have no generic types but that of events, which the client shares', () => {
  const declared = readFileSync('generated/operations.ts', 'utf8').matchAll(
    /^(?:export )?(?:type|interface) (\w+)</gm,
  );
  expect([...declared].map(([, name]) => name)).toEqual(['EventPayload']);
});
