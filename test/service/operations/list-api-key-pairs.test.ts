import { describe, expect, it } from 'vitest';
import { describeOperation } from '../../support/operation.ts';

interface Page {
  items: { id: string; created_at: string; last_used_at: string | null }[];
  limit: number;
  next_cursor: string | null;
  previous_cursor: string | null;
}

describeOperation('listApiKeyPairs', {}, (frame) => {
  const page = async (query: string, token?: string) => {
    const { status, body } = await frame.call({ query, ...(token === undefined ? {} : { token }) });
    expect(status).toBe(200);
    return body as Page;
  };

  describe('200 lists key pairs', () => {
    it('never shows a private key, and updates last_used_at at the first use', async () => {
      const { status, body, text } = await frame.call();
      expect(status).toBe(200);
      expect(text).not.toContain('private_key');
      const { items, limit } = body as Page;
      expect(limit).toBe(20);
      expect(items[0]?.last_used_at).not.toBeNull();
    });

    it('pages both ways without losing or repeating a pair, newest first', async () => {
      for (let made = 0; made < 7; made += 1) await frame.service.pair();
      const all = (await page('?limit=100')).items;
      const first = await page('?limit=5');
      const second = await page(`?limit=5&cursor=${first.next_cursor ?? ''}`);
      expect([...first.items, ...second.items]).toEqual(all);
      expect([second.next_cursor, first.previous_cursor]).toEqual([null, null]);
      expect(await page(`?limit=5&cursor=${second.previous_cursor ?? ''}`)).toEqual(first);
      const times = all.map(({ created_at }) => created_at);
      expect(times).toEqual([...times].sort().reverse());
    });

    it('shows a caller with access to some accounts only the pairs of these accounts', async () => {
      const narrow = await frame.service.pair({ accounts: ['marketplace'] });
      const wide = await frame.service.pair({ accounts: ['marketplace', 'default'] });
      const other = await frame.service.pair({ accounts: ['default'] });
      const seenBy = async (token: string) => (await page('?limit=100', token)).items.map(({ id }) => id);
      expect(await seenBy(narrow.token('*.read'))).toEqual([narrow.id]);
      expect(new Set(await seenBy(wide.token('*.read')))).toEqual(new Set([narrow.id, wide.id, other.id]));
      expect(await seenBy(frame.service.token('*.read'))).toEqual(
        expect.arrayContaining([narrow.id, wide.id, other.id]),
      );
    });
  });

  describe('422 for a cursor that was not issued for this list', () => {
    it('names the cursor', async () => {
      const { status, body } = await frame.call({ query: '?cursor=unicorn' });
      expect(status).toBe(422);
      expect(body).toEqual({
        detail: [{ loc: ['query', 'cursor'], msg: expect.any(String) as string, type: 'value_error.cursor' }],
      });
    });
  });
});
