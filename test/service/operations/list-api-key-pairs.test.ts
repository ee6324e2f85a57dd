import { describe, expect, it } from 'vitest';
import { describeOperation } from '../../support/operation.ts';

interface Page {
  items: { id: string; last_used_at: string | null }[];
  limit: number;
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
