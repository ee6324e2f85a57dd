// Cursors of the mock: opaque, bound to list, filters and merchant account like the server's. They say where they point, so
// nothing has to be remembered; nothing has to be protected either.
import { createHash } from 'node:crypto';
import { cursorBinding } from '../../server/domain/cursor.ts';
import type { Asked } from './outcome.ts';

export interface Cursor {
  direction: 'next' | 'previous';
  /** The item that it points from. */
  id: string;
}

export const encodeCursor = ({ direction, id }: Cursor, binding: string): string =>
  Buffer.from(JSON.stringify(['mock', direction, id, binding])).toString('base64url');

/** Undefined when it is not a cursor of this list, these filters and this account. */
export function decodeCursor(text: string, binding: string): Cursor | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (!Array.isArray(parts) || parts.length !== 4) return undefined;
    const [maker, direction, id, bound] = parts as unknown[];
    if (maker !== 'mock' || bound !== binding || typeof id !== 'string') return undefined;
    if (direction !== 'next' && direction !== 'previous') return undefined;
    // Another spelling of the same bytes is not what was issued.
    return encodeCursor({ direction, id }, binding) === text ? { direction, id } : undefined;
  } catch {
    return undefined;
  }
}

export const bindingOf = ({ operation, query, account }: Asked): string =>
  createHash('sha256')
    .update(cursorBinding(operation.id, JSON.stringify(account), query))
    .digest('base64url')
    .slice(0, 16);
