// The UUID format that the whole service accepts: RFC 9562, without `urn:uuid:` and braces.

/** Without anchors, for use inside larger patterns. */
export const uuidSource = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

export const uuidPattern = new RegExp(`^${uuidSource}$`, 'i');

export const isUuid = (text: string): boolean => uuidPattern.test(text);

/** In lower case, as it is stored; undefined when the text is not a UUID. */
export const readUuid = (text: string): string | undefined => (isUuid(text) ? text.toLowerCase() : undefined);
