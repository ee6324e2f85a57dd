// The mock's cursors: opaque and bound to list, filters and merchant account, like the server's. They contain the position
// itself, so the mock needs no state; they are not signed, because there is nothing to protect.
import { createHash } from 'node:crypto';
import { parseJson } from '../../client/json.ts';
import { cursorBinding } from '../../server/kit/rules/cursor.ts';
import type { MockRequest } from './outcome.ts';

export interface Cursor {
  direction: 'next' | 'previous';
  /** The item that the page starts after, or for `previous` ends before. */
  id: string;
}

export const encodeCursor = ({ direction, id }: Cursor, binding: string): string =>
  Buffer.from(JSON.stringify(['mock', direction, id, binding])).toString('base64url');

/** Undefined if the cursor belongs to another list, other filters or another account. */
export function decodeCursor(text: string, binding: string): Cursor | undefined {
  try {
    const parts: unknown = parseJson(Buffer.from(text, 'base64url').toString('utf8'));
    if (!Array.isArray(parts) || parts.length !== 4) return undefined;
    const [maker, direction, id, bound] = parts as unknown[];
    if (maker !== 'mock' || bound !== binding || typeof id !== 'string') return undefined;
    if (direction !== 'next' && direction !== 'previous') return undefined;
    // base64url has several spellings of the same bytes; only the one that was issued is accepted.
    return encodeCursor({ direction, id }, binding) === text ? { direction, id } : undefined;
  } catch {
    return undefined;
  }
}

/** `spell` as in server/handlers/deps.ts. */
export const bindingOf = (
  { operation, query, account }: MockRequest,
  spell: (name: string, value: unknown) => unknown,
): string =>
  createHash('sha256')
    .update(cursorBinding(operation.id, JSON.stringify(account), query, spell))
    .digest('base64url')
    .slice(0, 16);
