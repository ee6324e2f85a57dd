// Client code that does not match the contract does not compile. That of the reference's samples does.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errors } from '../../../generated/operations.ts';
import { forReaders, parseContract } from '../../../scripts/docs/contract.ts';
import { root } from '../../../scripts/support/root.ts';
import { describeTypes, type Piece } from '../../support/types.ts';

const head = `
import { createPaymentsClient, PaymentsError, unwrap, verifyWebhook, type FetchClient, type PaymentsClient, type PaymentsErrorCode, type PaymentsErrorDetail, type Query, type Schemas } from '../../../client/index.ts';
import { createPaymentsClient as createNodeClient, signToken } from '../../../client/server.ts';
declare const client: PaymentsClient;
const card = { method: 'card', number: '4111111111111111', expiration_date: '12/39' } as const;
const baseUrl = 'http://127.0.0.1:8080';
`;

const codes = [...Object.keys(errors), 'unprocessable', 'unknown', 'no_response'];

const pieces: Piece[] = [
  {
    name: 'a list has items of its type',
    code: `export const f = async (): Promise<Schemas['Transaction'][]> => unwrap(await client.GET('/transactions')).items;`,
  },
  {
    name: 'filters have the types of the contract',
    code: `export const f = () => client.GET('/transactions', {
      params: { query: { status: ['capture_succeeded'], amount_gte: 1, limit: 5, cursor: null } }, signal: AbortSignal.timeout(5) });`,
  },
  {
    name: 'a misspelt filter does not compile',
    code: `export const f = () => client.GET('/transactions', { params: { query: { limit: 5, curency: ['EUR'] } } });`,
    fault: /curency/,
  },
  {
    name: 'a misspelt option does not compile',
    code: `export const f = () => client.GET('/transactions', { parms: {} });`,
    fault: /parms/,
  },
  {
    name: 'a value outside an enum does not compile',
    code: `export const f = () => client.GET('/transactions', { params: { query: { status: ['captured'] } } });`,
    fault: /captured/,
  },
  {
    name: 'one value in place of a list does not compile',
    code: `export const f = () => client.GET('/transactions', { params: { query: { currency: 'EUR' } } });`,
    fault: /string\[\]/,
  },
  {
    name: 'an unknown path does not compile',
    code: `export const f = () => client.GET('/unicorns');`,
    fault: /unicorns/,
  },
  {
    name: 'a path with another method does not compile',
    code: `export const f = () => client.GET('/payment-methods');`,
    fault: /payment-methods/,
  },
  {
    name: 'what is optional may be undefined',
    code: `export const f = (maybe: string | undefined, list: string[] | undefined, signal: AbortSignal | undefined) => {
      const query: Query<'/transactions'> = { search: maybe, currency: list };
      const body: Schemas['PaymentMethodCreate'] = { ...card, buyer_id: maybe };
      const header = { 'Idempotency-Key': maybe };
      return [client.GET('/transactions', { params: { query }, signal }), client.paginate('/transactions', { params: { query }, signal }),
        client.POST('/payment-methods', { params: { header }, body: { ...body, security_code: maybe }, signal })];
    };`,
  },
  {
    name: 'what is required may not',
    code: `export const f = (number: string | undefined) => client.POST('/payment-methods', { body: { ...card, number } });`,
    fault: /undefined/,
  },
  {
    name: 'a library around openapi-fetch has the same types',
    code: `export const f = async (api: FetchClient, search: string | undefined): Promise<Schemas['Transaction'][] | PaymentsError> => {
      const { data, error } = await api.GET('/transactions', { params: { query: { search } } });
      return error ? error : data.items;
    };`,
  },
  {
    name: 'a body is typed',
    code: `export const f = async (): Promise<Schemas['PaymentMethod']> => unwrap(await client.POST('/payment-methods', { body: card }));`,
  },
  {
    name: 'a missing body does not compile',
    code: `export const f = () => client.POST('/payment-methods');`,
    fault: /arguments/,
  },
  {
    name: 'a missing property does not compile',
    code: `export const f = () => client.POST('/payment-methods', { body: { method: 'card', number: '4111111111111111' } });`,
    fault: /expiration_date/,
  },
  {
    name: 'an unknown property does not compile',
    code: `export const f = () => client.POST('/payment-methods', { body: { ...card, cvv: '123' } });`,
    fault: /cvv/,
  },
  {
    name: 'data must be checked before use',
    code: `export const f = async () => (await client.GET('/transactions')).data.items;`,
    fault: /undefined/,
  },
  {
    name: 'data is there where there is no error',
    code: `export const f = async () => { const { data, error } = await client.GET('/transactions'); return error ? [] : data.items; };`,
  },
  {
    name: 'an error of any operation has a code, a status, details, a request ID and the taken ID',
    code: `export const f = async () => {
      const { error } = await client.POST('/payment-methods', { body: card });
      return error && [error.status, error.code === 'unprocessable', error.details[0]?.pointer, error.requestId, error.resourceId];
    };`,
  },
  {
    name: 'a method without a path in the contract does not compile',
    code: `export const f = () => client.PUT('/transactions');`,
    fault: /PUT/,
  },
  {
    name: 'paginate takes the options of GET',
    code: `const options = { params: { query: { currency: ['EUR'] }, header: { 'X-Service-Merchant-Account-ID': '*' } }, headers: { Prefer: 'code=200' }, signal: AbortSignal.timeout(5) };
    export const f = () => [client.GET('/transactions', options), client.paginate('/transactions', options), client.pages('/transactions', options)];`,
  },
  {
    name: 'a query outside of params does not compile',
    code: `export const f = () => client.paginate('/transactions', { query: { currency: ['EUR'] } });`,
    fault: /query/,
  },
  {
    name: 'paginate yields items of the list',
    code: `export const f = async () => { let sum = 0; for await (const { amount } of client.paginate('/transactions', { params: { query: { limit: 5 } } })) sum += amount; return sum; };
    export const g = async () => { for await (const { items } of client.pages('/api-key-pairs')) return items[0]?.thumbprint; return null; };`,
  },
  {
    name: 'paginate refuses a field that items do not have',
    code: `export const f = async () => { for await (const { thumbprint } of client.paginate('/transactions')) return thumbprint; return null; };`,
    fault: /thumbprint/,
  },
  {
    name: 'paginate refuses a list without pages',
    code: `export const f = () => client.paginate('/card-scheme-definitions');`,
    fault: /card-scheme-definitions/,
  },
  {
    name: 'paginate refuses a misspelt filter',
    code: `export const f = () => client.paginate('/transactions', { params: { query: { curency: ['EUR'] } } });`,
    fault: /curency/,
  },
  {
    name: 'the way back has a cursor',
    code: `export const f = () => client.paginate('/transactions', { direction: 'previous', params: { query: { cursor: 'x', limit: 5 } } });`,
  },
  {
    name: 'the way back without a cursor does not compile',
    code: `export const f = () => client.paginate('/transactions', { direction: 'previous', params: { query: { limit: 5 } } });`,
    fault: /cursor/,
  },
  {
    name: 'the way back with a cursor that may be null does not compile',
    code: `export const f = (cursor: string | null) => client.paginate('/transactions', { direction: 'previous', params: { query: { cursor } } });`,
    fault: /null/,
  },
  {
    name: 'a token may be text or a function of either kind',
    code: `export const a = createPaymentsClient({ baseUrl, token: 'x', merchantAccount: 'default', fetch });
    export const b = createPaymentsClient({ baseUrl, token: () => 'x' });
    export const c = createNodeClient({ baseUrl, token: async () => 'x', retry: { tries: 1 } });`,
  },
  {
    name: 'a client without a token does not compile',
    code: `export const c = createPaymentsClient({ baseUrl });`,
    fault: /token/,
  },
  {
    name: 'a key pair has no place in a browser',
    code: `export const c = createPaymentsClient({ baseUrl, keyPair: { privateKey: '' } });`,
    fault: /keyPair/,
  },
  {
    name: 'on a server it has',
    code: `export const c = createNodeClient({ baseUrl, keyPair: { privateKey: '', scopes: ['transactions.read', '*.write'], lifetimeSeconds: 60 } });`,
  },
  {
    name: 'a key pair and a token at once do not compile',
    code: `export const c = createNodeClient({ baseUrl, token: 'x', keyPair: { privateKey: '' } });`,
    fault: /not assignable/,
  },
  {
    name: 'a scope that no operation has does not compile',
    code: `export const t = signToken({ privateKey: '', scopes: ['transactions.reed'] });`,
    fault: /transactions\.reed/,
  },
  {
    name: 'a thrown error is narrowed by its class, and then by its code',
    code: `export const f = (error: unknown): [string, number] => {
      if (!(error instanceof PaymentsError)) throw error;
      const { code, retryAfterSeconds } = error;
      if (code === 'too_many_requests') return [error.message, retryAfterSeconds];
      return error.code === 'duplicate_record' ? [error.resourceId, error.status] : [error.code, 0];
    };`,
  },
  {
    name: 'so is the error of a result, in a switch too',
    code: `export const f = async (): Promise<string | number> => {
      const { error } = await client.GET('/transactions');
      switch (error?.code) {
        case 'too_many_requests': return error.retryAfterSeconds;
        case 'duplicate_record': return error.resourceId;
        default: return error?.code ?? '';
      }
    };`,
  },
  {
    name: 'the ID of another error may be null',
    code: `export const f = (error: PaymentsError): string => error.code === 'too_many_requests' ? error.resourceId : '';`,
    fault: /null/,
  },
  {
    name: 'the seconds of another error may be undefined',
    code: `export const f = (error: PaymentsError): number => error.code === 'bad_gateway' ? error.retryAfterSeconds : 0;`,
    fault: /undefined/,
  },
  {
    name: 'a misspelt code does not compile',
    code: `export const f = (error: PaymentsError) => error.code === 'duplicate_recrod';`,
    fault: /no overlap/,
  },
  {
    name: 'a switch over codes needs a default, because a later version may have others',
    code: `
    export const f = ({ code }: PaymentsError): string => {
      switch (code) {
        ${codes.map((code) => `case '${code}': return '';`).join(' ')}
      }
    };`,
    fault: /lacks ending return statement/,
  },
  {
    name: 'the kind of a detail is known, or one of a later version',
    code: `export const f = ({ type }: PaymentsErrorDetail): string => type === 'value_error.missing' ? '' : type;`,
  },
  {
    name: 'a status that was read is a filter',
    code: `export const f = async (one: Schemas['Transaction'], wanted: Schemas['TransactionStatus']) => {
      const query: Query<'/transactions'> = { status: [one.status, wanted], cursor: null };
      const { data } = await client.GET('/transactions', { params: { query } });
      for await (const { status } of client.paginate('/transactions', { params: { query: { status: data?.items.map(({ status }) => status) ?? [] } } })) return status;
      return client.pages('/transactions', { params: { query } });
    };`,
  },
  {
    name: 'a comparison narrows an enumeration of an answer',
    code: `export const f = ({ status }: Schemas['Transaction']): 'processing' | null => status === 'processing' ? status : null;`,
  },
  {
    name: 'a misspelt value does not compile in a comparison',
    code: `export const f = ({ status }: Schemas['Transaction']) => status === 'procesing';`,
    fault: /no overlap/,
  },
  {
    name: 'a switch over an enumeration of an answer needs a default',
    code: `export const a = (one: Schemas['Transaction']): number => {
      switch (one.intent) { case 'authorize': return 1; case 'capture': return 2; }
    };`,
    fault: /lacks ending return statement/,
  },
  {
    name: 'an event is told apart by its name',
    code: `export const f = async (headers: Headers, body: string) => {
      const event = await verifyWebhook({ headers, body, secret: 'whsec_' });
      return event.name === 'transaction.updated' ? event.target.amount : event.name === 'payment-method.created' ? event.target.scheme : null;
    };`,
  },
  {
    name: 'an event that is not told apart has no field of one kind',
    code: `export const f = async (headers: Headers, body: string) => (await verifyWebhook({ headers, body, secret: '' })).target.amount;`,
    fault: /amount/,
  },
  {
    name: 'headers of Node.js do for a webhook',
    code: `export const f = (request: import('node:http').IncomingMessage, body: Buffer) => verifyWebhook({ headers: request.headers, body, secrets: [] });`,
  },
  {
    name: 'a webhook without a secret does not compile',
    code: `export const a = (headers: Headers) => verifyWebhook({ headers, body: '' });`,
    fault: /secret/,
  },
  {
    name: 'a parsed body of a webhook does not compile',
    code: `export const a = (headers: Headers) => verifyWebhook({ headers, body: { type: 'event' }, secret: '' });`,
    fault: /type/,
  },
];

const contract = parseContract(readFileSync(join(root, 'generated/openapi.json'), 'utf8'));
const samples = Object.values(forReaders(contract).paths).flatMap((item) =>
  Object.values(item).flatMap(({ operationId, 'x-codeSamples': all = [] }) =>
    all
      .filter(({ lang }) => lang === 'TypeScript')
      .map(({ source }) => ({
        name: `the sample of ${operationId}`,
        code: `export const f = async () => {${source.replace(/^import .*$/m, '')}\n};`,
      })),
  ),
);

describeTypes('client types', head, [...pieces, ...samples]);
