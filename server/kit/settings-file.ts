// The lines of a settings file.
import { parseEnv } from 'node:util';

/** With `export` before it, as for a shell. A quoted value may go on in the next lines. */
const assignment = /^\s*(?:export\s+)?[^=\s]+\s*=\s*(["'`]?)([^]*)$/;

/**
 * The variables, and the numbers of lines that set none. Those are left out: parseEnv of Node 20 takes one for a part of the next name,
 * so that another setting would be lost.
 */
export function parseSettings(text: string): { variables: NodeJS.Dict<string>; odd: number[] } {
  const odd: number[] = [];
  let open = '';
  const lines = text.split('\n').map((line, index) => {
    if (open !== '') {
      if (line.includes(open)) open = '';
      return line;
    }
    if (/^\s*(?:#|$)/.test(line)) return line;
    const [, quote, value = ''] = assignment.exec(line) ?? [];
    if (quote === undefined) {
      odd.push(index + 1);
      return '';
    }
    if (!value.includes(quote)) open = quote;
    return line;
  });
  return { variables: parseEnv(lines.join('\n')), odd };
}
