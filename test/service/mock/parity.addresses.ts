/** Hand-written cases of the parity suite about URLs: queries, paths, and pages outside of the API. */
import type { Who, Wire } from './parity.exchange.ts';

export type Case = Partial<Omit<Wire, 'body'>> & { name: string; json?: unknown; raw?: string | Buffer };

export const nobody: Who = { kind: 'nobody', says: 'nobody' };

export const get = (target: string): Case => ({ name: `GET ${target}`, target });

const queries: Case[] = [
  ...['', '&&', '?', '=', '=1', 'limit', 'limit=5&limit=', 'limit=%35', '%6cimit=5', '%6Cimit=0', '#'],
  ...['limit=5+', 'limit=%2B5', 'limit=5#limit=x', 'limit=5;cursor=x', 'limit[0]=5', 'limit.x=5'],
  ...['%zz=%zz', 'cursor=%zz', 'cursor=%00', 'search=%F0%9F%A6%84', 'search=%ED%A0%80', 'search=+'],
  ...['status=processing,capture_succeeded', 'currency=USD,EUR', 'amount_gte=5&amount_lte=1', 'constructor'],
  ...['created_at_gte=2026-01-01T00:00:00+01:00', 'created_at_gte=9999-12-31T23:59:59.999999999Z'],
  ...['amount_eq=-0', 'amount_eq=007', 'has_refunds', 'toString=1&__proto__=2', 'buyer_id=no-uuid', 'id=7'],
  ...['cursor', 'cursor=', 'cursor=null', 'cursor=&cursor=', 'cursor=foreign', 'cursor=bW9jaw'],
  ...['cursor=foreign&limit=0', 'metadata=x', 'metadata=%5B%5D', 'metadata=%7B%22a%22%3A%22b%22%7D'],
  ...['metadata=%7B%7D&metadata=%5B%5D&cursor=foreign', 'metadata=x&metadata=y&limit=0'],
  `metadata=%7B%7D&metadata=${encodeURIComponent(JSON.stringify(Object.assign({}, Array(21).fill('x'))))}`,
  `${'&'.repeat(1_200)}limit=0`,
  `search=${'x'.repeat(17_000)}`,
].map((query) => get(`/transactions?${query}`));

const approval = '/sandbox/approvals/0a1b2c3d-0000-4000-8000-00000000ffff';
const otherPaths: Case[] = [
  ...['/', '//', '/unicorns', '/transactions/', '//transactions', '/Transactions', '/transactions%00'],
  ...['/transactions%2F', '/%74ransactions', '/transactions;limit=1', '/transactions/../transactions'],
  ...['/gift-cards', '/gift-cards%2Fbalances', '/%', '/%zz', '/%E0%A4%A', '/sandbox/approvals/%zz'],
  ...[
    '/sandbox/approvals/7',
    `${approval}/x`,
    '/assets/card-schemes/%zz.svg',
    '/assets/card-schemes/visa.png',
  ],
  ...['/healthz/', '/Healthz', '/openapi.yaml', '/favicon.ico', 'http://elsewhere.example/transactions', '*'],
].flatMap((target) => [get(target), { ...get(target), name: `POST ${target}`, method: 'POST' }]);

const pages: Case[] = [
  '/healthz',
  '/readyz',
  '/openapi.json',
  '/assets/card-schemes/visa.svg',
  approval,
].flatMap((target) =>
  ['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE'].map((method) => ({
    ...{ name: `${method} ${target}`, method, target, who: nobody },
  })),
);

export const addresses: Case[] = [...queries, ...otherPaths, ...pages, { ...get('/docs'), who: nobody }];
