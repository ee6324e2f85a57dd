// Fills in the files of templates/: `{{name}}` is replaced; what is between `{{#flag}}` and `{{/flag}}` stays if the flag is true,
// between `{{^flag}}` and `{{/flag}}` if it is not. Prettier formats the result.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/root.ts';

export type Values = Record<string, string | boolean>;

export const filled = (name: string, values: Values): string =>
  chosen(readFileSync(join(root, 'scripts/new/templates', `${name}.txt`), 'utf8'), values).replaceAll(
    /\{\{(\w+)\}\}/g,
    (_whole, key: string) => {
      const value = values[key];
      if (typeof value !== 'string') throw new Error(`The template ${name} has no value for ${key}.`);
      return value;
    },
  );

const chosen = (text: string, values: Values): string =>
  text.replaceAll(
    /\{\{([#^])(\w+)\}\}\n?([^]*?)\{\{\/\2\}\}\n?/g,
    (_whole, sign: string, flag: string, part: string) =>
      (values[flag] === true) === (sign === '#') ? chosen(part, values) : '',
  );
