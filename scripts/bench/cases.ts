// What is asked of the subjects. Requests of one case differ from each other as they do in real life.
import type { Call } from './peers/loader.ts';
import { cursorAt } from './peers/transactions.ts';
import type { BenchedService } from './service.ts';
import type { SubjectName } from './subjects.ts';

export interface Case {
  name: string;
  title: string;
  subjects: SubjectName[];
  status: number;
  /** Sent in turn. */
  calls: (subject: SubjectName) => Call[];
  token?: string;
  /** The answers of all subjects have the same `items`. */
  isSameList?: boolean;
}

interface Transaction {
  id: string;
  created_at: string;
  amount: number;
}
interface Page {
  items: Transaction[];
  next_cursor: string | null;
}

/** A place in the list, as the service names it and as the peers do. */
interface Place {
  ours: string;
  theirs: string;
}

const card = { method: 'card', number: '4111111111111111', expiration_date: '12/39', security_code: '737' };
const balances = {
  items: [
    { number: '9999000050001234', pin: '1111' },
    { number: '4123450000001234', pin: '1234' },
  ],
};
const page = '/transactions?limit=20';
const get = (path: string): Call => ({ method: 'GET', path });
const post = (path: string, body: object): Call => ({ method: 'POST', path, body: JSON.stringify(body) });

const lists: SubjectName[] = [
  'ours',
  'bare',
  'fastify',
  'fastify-checked',
  'express-checked',
  'express-verified',
];
const beside: SubjectName[] = ['ours', 'express', 'express-checked'];

/** Calls of which the peers get the answer of the service, to send the same bytes. */
export const recordedCalls: Call[] = [
  get(page),
  get('/card-scheme-definitions'),
  post('/gift-cards/balances', balances),
  post('/payment-methods', card),
];

export async function createCases(service: BenchedService, mostPlaces: number): Promise<Case[]> {
  const { places, amounts } = await walk(service, mostPlaces);
  return [
    {
      name: 'page',
      title: 'Page of 20 transactions',
      subjects: [...lists, 'prism', 'mock'],
      status: 200,
      calls: () => [get(page)],
      isSameList: true,
    },
    {
      name: 'cursor',
      title: 'Page in the middle, each request another cursor',
      subjects: lists,
      status: 200,
      calls: (subject) =>
        places.map(({ ours, theirs }) => get(`${page}&cursor=${subject === 'ours' ? ours : theirs}`)),
      isSameList: true,
    },
    {
      name: 'filter',
      title: 'Page with `amount_gte`, each request another value',
      subjects: lists,
      status: 200,
      calls: () => amounts.map((amount) => get(`${page}&amount_gte=${amount}`)),
      isSameList: true,
    },
    {
      name: 'schemes',
      title: 'Card schemes',
      subjects: beside,
      status: 200,
      calls: () => [get('/card-scheme-definitions')],
    },
    {
      name: 'cards',
      title: '`POST /payment-methods`, beside an insert of the same rows (card, event, delivery, job)',
      subjects: ['ours', 'express'],
      status: 201,
      calls: () => [post('/payment-methods', card)],
    },
    {
      name: 'balances',
      title: 'Gift card balances',
      subjects: beside,
      status: 200,
      calls: () => [post('/gift-cards/balances', balances)],
    },
    {
      name: 'unauthorized',
      title: '401',
      subjects: ['ours', 'express-checked'],
      status: 401,
      calls: () => [get(page)],
      token: 'nobody',
    },
    {
      name: 'invalid',
      title: '400 with three violations',
      subjects: ['ours', 'express-checked'],
      status: 400,
      calls: () => [get('/transactions?limit=0&amount_gte=much&status=lost')],
    },
    {
      name: 'mock-schemes',
      title: 'Mocks: card schemes',
      subjects: ['mock', 'prism'],
      status: 200,
      calls: () => [get('/card-scheme-definitions')],
    },
    {
      name: 'mock-cards',
      title: 'Mocks: `POST /payment-methods`',
      subjects: ['mock', 'prism'],
      status: 201,
      calls: () => [post('/payment-methods', card)],
    },
  ];
}

/** Pages through the list to collect cursors of the service, and the rows at which they point. */
async function walk({ url, token }: BenchedService, mostPlaces: number) {
  const places: Place[] = [];
  const amounts = new Set<number>();
  let cursor: string | null = '';
  while (cursor !== null && places.length < mostPlaces) {
    const response = await fetch(`${url}${page}&cursor=${cursor}`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    const { items, next_cursor }: Page = (await response.json()) as Page;
    const last = items.at(-1);
    for (const { amount } of items) amounts.add(amount);
    if (next_cursor !== null && last) places.push({ ours: next_cursor, theirs: cursorAt(last) });
    cursor = next_cursor;
  }
  // Of very large amounts there are fewer than a page, and the answers would be shorter than in the other cases.
  const smaller = [...amounts].sort((a, b) => a - b).slice(0, Math.ceil(amounts.size * 0.9));
  return { places, amounts: scattered(smaller) };
}

/** In another order, always the same one: neighbours would find nearly the same page. */
const scattered = <T>(items: readonly T[]): T[] =>
  items
    .map((item, index) => ({ item, rank: (index * 7919) % items.length }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ item }) => item);
