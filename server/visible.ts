// Text of others, shown to people. A name that was stored through the API may contain characters that move the cursor, clear
// the screen, or show the rest of a line in another order (CWE-150, Trojan Source). They are shown as escapes instead.

/**
 * Control characters, format characters (bidirectional controls among them), surrogates without a partner, and separators of
 * lines. Joiners are left alone: languages and emoji need them, and they reorder nothing.
 */
const unsafe = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const named: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x100) return named[character] ?? `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`;
}

/** For a value, which belongs on one line. */
export const visible = (text: string): string => text.replace(unsafe, escape);

/** For a message, whose lines are ours. */
export const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n');

const asJson = (character: string): string =>
  character === '\n'
    ? character
    : Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
        .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
        .join('');

/** The same JSON: `JSON.stringify` leaves U+007F to U+009F and format characters as they are. */
export const visibleJson = (json: string): string => json.replace(unsafe, asJson);
