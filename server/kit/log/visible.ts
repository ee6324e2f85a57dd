// Text of others, shown to people. A name that was stored through the API may contain characters that move the cursor, clear
// the screen, or show the rest of a line in another order (CWE-150, Trojan Source). They are shown as escapes instead.

/**
 * Control characters, format characters (bidirectional controls among them), surrogates without a partner, and separators of
 * lines. Joiners are left alone: languages and emoji need them, and they reorder nothing.
 */
const unsafe = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const named: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** As JSON escapes them. */
const escape = (character: string): string =>
  named[character] ??
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');

/** For a value, which belongs on one line. */
export const visible = (text: string): string => text.replace(unsafe, escape);

/** For a message, whose lines are ours. JSON stays the same JSON. */
export const visibleLines = (text: string): string =>
  text.replace(unsafe, (character) => (character === '\n' ? character : escape(character)));
