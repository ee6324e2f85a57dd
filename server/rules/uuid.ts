// The UUID format that the whole service accepts: RFC 9562, without `urn:uuid:` and braces.
import { randomBytes } from 'node:crypto';

/** Without anchors, for use inside larger patterns. */
export const uuidSource = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

export const uuidPattern = new RegExp(`^${uuidSource}$`, 'i');

export const isUuid = (text: string): boolean => uuidPattern.test(text);

/** In lower case, as it is stored; undefined when the text is not a UUID. */
export const readUuid = (text: string): string | undefined => (isUuid(text) ? text.toLowerCase() : undefined);

/** Version 7: it begins with the time in milliseconds, so that new entries of an index by ID are side by side. */
export function makeTimedUuid(at: Date): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(at.getTime(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
