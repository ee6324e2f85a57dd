// Cursors are opaque, bound to their list, filters and merchant account, and protected against tampering. 58 bytes in
// base64url: version, direction, created_at in milliseconds, id, and a MAC over these and the binding.
import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';

export interface Position {
  createdAt: Date;
  id: string;
}

export interface Cursor extends Position {
  direction: 'next' | 'previous';
}

const ids = 1n << 128n;

// The neighbours of a position. Times have whole milliseconds and IDs 128 bits, so nothing fits in between: "newer than
// `justOlder(at)`" is "at or newer than `at`".
export const justOlder = (at: Position): Position => beside(at, -1n);
export const justNewer = (at: Position): Position => beside(at, 1n);

function beside({ createdAt, id }: Position, step: 1n | -1n): Position {
  const number = BigInt(`0x${id.replaceAll('-', '')}`) + step;
  const overflow = number < 0n ? -1 : number >= ids ? 1 : 0;
  return {
    createdAt: new Date(createdAt.getTime() + overflow),
    id: formatId(BigInt.asUintN(128, number).toString(16).padStart(32, '0')),
  };
}

const formatId = (hex: string) => hex.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

const version = 1;
const macLength = 32;
const bodyLength = 1 + 1 + 8 + 16;

export interface CursorCodec {
  encode: (cursor: Cursor, boundTo: string) => string;
  /** Undefined when this service did not issue the cursor with this binding. */
  decode: (text: string, boundTo: string) => Cursor | undefined;
}

/** The first key signs. Cursors of the others are accepted, so that a rotation interrupts nobody who is paging. */
export function createCursorCodec(secrets: readonly [Buffer, ...Buffer[]]): CursorCodec {
  const [first, ...others] = secrets;
  // Prepared once: that is a third of the work of a short MAC.
  const keys: [KeyObject, ...KeyObject[]] = [
    createSecretKey(first),
    ...others.map((one) => createSecretKey(one)),
  ];
  const mac = (body: Buffer, boundTo: string, key = keys[0]) =>
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
      const given = bytes.subarray(bodyLength);
      const isOurs = keys.some((key) => timingSafeEqual(given, mac(body, boundTo, key)));
      if (!isOurs || body.readUInt8(0) !== version) return undefined;
      return {
        direction: body.readUInt8(1) === 0 ? 'next' : 'previous',
        createdAt: new Date(Number(body.readBigInt64BE(2))),
        id: formatId(body.toString('hex', 10)),
      };
    },
  };
}

/** Undefined for the first page. Clients write an absent cursor as nothing, as an empty value, or as `null`. */
export const givenCursor = (text: string | null | undefined): string | undefined =>
  text === '' || text === 'null' || text === null ? undefined : text;

/** The binding of a cursor: everything in the request that decides which rows the list has, however it is spelled. */
export function cursorBinding(
  list: string,
  account: string,
  query: Readonly<Record<string, unknown>>,
  /** Spells the value of a filter in one way. */
  canonical: (name: string, value: unknown) => unknown,
): string {
  const filters = Object.keys(query)
    .filter((name) => name !== 'cursor' && name !== 'limit' && query[name] !== undefined)
    .sort()
    .map((name) => [name, canonical(name, query[name])]);
  return JSON.stringify([list, account, filters]);
}

export function pageCursors(
  codec: CursorCodec,
  page: { next: Position | undefined; previous: Position | undefined },
  boundTo: string,
) {
  const encode = (direction: Cursor['direction'], at: Position | undefined) =>
    at ? codec.encode({ ...at, direction }, boundTo) : null;
  return {
    next_cursor: encode('next', page.next),
    previous_cursor: encode('previous', page.previous),
  };
}

/** What a 422 says of a cursor that cannot be decoded. */
export const foreignCursor = {
  loc: ['query', 'cursor'],
  msg: 'was not issued for this list, these filters and this merchant account; start again without a cursor',
  type: 'value_error.cursor',
};
