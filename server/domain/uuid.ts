// The one rule for UUIDs: RFC 9562 in its usual spelling. `urn:uuid:` and braces are not accepted anywhere.

/** Without anchors, for use inside larger patterns. */
export const uuidSource = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

export const uuidPattern = new RegExp(`^${uuidSource}$`, 'i');

export const isUuid = (text: string): boolean => uuidPattern.test(text);

/** In lower case, as it is stored and shown; undefined when the text is no UUID. */
export const readUuid = (text: string): string | undefined => (isUuid(text) ? text.toLowerCase() : undefined);
