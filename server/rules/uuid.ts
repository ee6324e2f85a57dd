// The UUID format that the whole service accepts: RFC 9562, without `urn:uuid:` and braces.
import { randomUUID } from 'node:crypto';

/** Without anchors, for use inside larger patterns. */
export const uuidSource = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

export const uuidPattern = new RegExp(`^${uuidSource}$`, 'i');

export const isUuid = (text: string): boolean => uuidPattern.test(text);

/** In lower case, as it is stored; undefined when the text is not a UUID. */
export const readUuid = (text: string): string | undefined => (isUuid(text) ? text.toLowerCase() : undefined);

/** Version 7: it begins with the time in milliseconds, so that new entries of an index by ID are side by side. */
export function makeTimedUuid(at: Date): string {
  const time = at.getTime().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
