// Cursors are opaque, bound to their list, filters and merchant account, and protected against tampering. 58 bytes in
// base64url: version, direction, created_at in milliseconds, id, and a MAC over these and the binding.
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface Position {
  createdAt: Date;
  id: string;
}

export interface Cursor extends Position {
  direction: 'next' | 'previous';
}

const version = 1;
const macLength = 32;
const bodyLength = 1 + 1 + 8 + 16;

export interface CursorCodec {
  encode: (cursor: Cursor, boundTo: string) => string;
  /** Undefined when this service did not issue the cursor with this binding. */
  decode: (text: string, boundTo: string) => Cursor | undefined;
}

export function createCursorCodec(key: Buffer): CursorCodec {
  const mac = (body: Buffer, boundTo: string) =>
    createHmac('sha256', key).update(body).update(boundTo).digest();
  return {
    encode({ direction, createdAt, id }, boundTo) {
      const body = Buffer.alloc(bodyLength);
      body.writeUInt8(version, 0);
      body.writeUInt8(direction === 'next' ? 0 : 1, 1);
      body.writeBigInt64BE(BigInt(createdAt.getTime()), 2);
      Buffer.from(id.replaceAll('-', ''), 'hex').copy(body, 10);
      return Buffer.concat([body, mac(body, boundTo)]).toString('base64url');
    },
    decode(text, boundTo) {
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.length !== bodyLength + macLength || bytes.toString('base64url') !== text) return undefined;
      const body = bytes.subarray(0, bodyLength);
      if (!timingSafeEqual(bytes.subarray(bodyLength), mac(body, boundTo)) || body.readUInt8(0) !== version)
        return undefined;
      const hex = body.toString('hex', 10);
      return {
        direction: body.readUInt8(1) === 0 ? 'next' : 'previous',
        createdAt: new Date(Number(body.readBigInt64BE(2))),
        id: hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
      };
    },
  };
}

/** Undefined for the first page. Clients write an absent cursor as nothing, as an empty value, or as `null`. */
export const givenCursor = (text: string | null | undefined): string | undefined =>
  text === '' || text === 'null' || text === null ? undefined : text;

/** The binding of a cursor: everything in the request that decides which rows the list has. Not the page size. */
export function cursorBinding(
  list: string,
  account: string,
  query: Readonly<Record<string, unknown>>,
): string {
  const filters = Object.entries(query)
    .filter(([name, value]) => name !== 'cursor' && name !== 'limit' && value !== undefined)
    // The order of values does not matter, except in metadata, where the last value of a key wins.
    .map(
      ([name, value]) =>
        [
          name,
          Array.isArray(value) && name !== 'metadata' ? [...(value as string[])].sort() : value,
        ] as const,
    )
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([list, account, filters]);
}

export function pageCursors(
  codec: CursorCodec,
  page: { next: Position | undefined; previous: Position | undefined },
  boundTo: string,
) {
  const encode = (direction: Cursor['direction'], at: Position | undefined) =>
    at ? codec.encode({ ...at, direction }, boundTo) : null;
  return { next_cursor: encode('next', page.next), previous_cursor: encode('previous', page.previous) };
}
