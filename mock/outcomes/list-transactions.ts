// Transactions: a list whose `metadata` filter must be JSON objects of strings, which no schema can say.
import { list } from './list.ts';
import type { Choose } from './outcome.ts';

interface Detail {
  detail: { loc: (string | number)[] }[];
}

export const listTransactions: Choose = (asked) => {
  const texts = (asked.query.metadata ?? []) as string[];
  const faults = [...texts.keys()].filter((index) => !isObjectOfStrings(texts[index] ?? ''));
  if (faults.length === 0) return list(asked);
  return {
    status: 422,
    example: 'invalid_metadata',
    why: 'a metadata filter is no JSON object of strings',
    carry: (example) => {
      const [words] = (example as Detail).detail;
      return { detail: faults.map((index) => ({ ...words, loc: ['query', 'metadata', index] })) };
    },
  };
};

function isObjectOfStrings(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return false;
    return Object.values(value).every((one) => typeof one === 'string');
  } catch {
    return false;
  }
}
