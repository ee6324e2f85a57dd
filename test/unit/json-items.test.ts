// Lists whose items are JSON already: how they are written and validated.
import { describe, expect, it } from 'vitest';
import { compiledValidators } from '../../server/kit/contract/compile.ts';
import { loadContract } from '../../server/kit/contract/load.ts';
import { writeBody, createResponseCheck, createKnownItems } from '../../server/kit/contract/responses.ts';
import { everyExample } from '../service/mock/support.ts';

interface List {
  items: { id: string }[];
  limit: number;
}

const list = everyExample.find(({ id, status, value }) => {
  return id === 'listTransactions' && status === 200 && (value as List).items.length > 1;
})?.value as List;
const asJson = { ...list, items: list.items.map((item) => ({ json: Buffer.from(JSON.stringify(item)) })) };

describe('the body of a list', () => {
  it('is the same as if the items had been values', () => {
    expect(JSON.parse(writeBody(asJson).toString())).toEqual(list);
  });
});

const { fault } = createResponseCheck(
  compiledValidators(loadContract()) ?? new Map(),
  new Set(['listTransactions 204']),
);

describe('an answer without content', () => {
  it('is empty', () => {
    expect(writeBody(undefined)).toBe('');
    expect(fault('listTransactions', 204, undefined)).toBeUndefined();
  });

  it('is not valid with a body, nor for another status or operation', () => {
    expect(fault('listTransactions', 204, {})).toContain('must have none');
    expect(fault('listTransactions', 200, undefined)).toBeDefined();
    expect(fault('listApiKeyPairs', 204, undefined)).toBe('listApiKeyPairs does not declare 204');
  });
});

describe('a list with items as JSON', () => {
  const withItem = (json: string) => ({ ...asJson, items: [...asJson.items, { json: Buffer.from(json) }] });
  const at = `/items/${list.items.length}`;

  it('is valid, also when it is sent again', () => {
    expect(fault('listTransactions', 200, asJson)).toBeUndefined();
    expect(fault('listTransactions', 200, asJson)).toBeUndefined();
  });

  it('is not valid if one item breaks the contract, however often it is sent', () => {
    const broken = JSON.stringify({ ...list.items[0], status: 7 });
    for (let time = 0; time < 3; time += 1)
      expect(fault('listTransactions', 200, withItem(broken))).toContain(`${at} /status`);
  });

  it('is not valid if an item is no JSON, or two', () => {
    for (const text of ['', '{', `${JSON.stringify(list.items[0])},{}`])
      expect(fault('listTransactions', 200, withItem(text))).toBe(`${at} is not JSON`);
  });

  it('is not valid if the rest of it breaks the contract', () => {
    expect(fault('listTransactions', 200, { ...asJson, limit: 'many' })).toContain('/limit');
    expect(fault('listTransactions', 200, { ...asJson, extra: 1 })).toBeDefined();
  });

  it('is not valid as the answer of another operation', () => {
    expect(fault('listApiKeyPairs', 200, asJson)).toContain('/items/0');
  });
});

describe('what is known to be valid', () => {
  it('is validated again when it was forgotten, and what is not valid every time', () => {
    const known = createKnownItems(2);
    const asked: string[] = [];
    const ask = (text: string, fault?: string) =>
      known.fault('schema', Buffer.from(text), (given) => {
        asked.push(given.toString());
        return fault;
      });
    for (const text of ['a', 'a', 'b', 'a', 'c', 'd', 'e', 'a']) ask(text);
    expect(asked).toEqual(['a', 'b', 'c', 'd', 'e', 'a']);
    asked.length = 0;
    expect([ask('x', 'broken'), ask('x', 'broken')]).toEqual(['broken', 'broken']);
    expect(asked).toEqual(['x', 'x']);
  });

  it('is known for one schema only', () => {
    const known = createKnownItems();
    const json = Buffer.from('{}');
    expect(known.fault('one', json, () => undefined)).toBeUndefined();
    expect(known.fault('other', json, () => 'broken')).toBe('broken');
  });
});
