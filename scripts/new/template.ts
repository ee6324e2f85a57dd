// Fills in the files of templates/: `{{name}}` is replaced; what is between `{{#flag}}` and `{{/flag}}` stays if the flag is true,
// between `{{^flag}}` and `{{/flag}}` if it is not. Lines that are empty of all but these marks disappear.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/root.ts';

export type Values = Record<string, string | boolean>;

export function filled(name: string, values: Values): string {
  const template = readFileSync(join(root, 'scripts/new/templates', `${name}.txt`), 'utf8');
  const text = chosen(template.replaceAll(/^(\{\{[#^/]\w+\}\})\n/gm, '$1'), values);
  return text.replaceAll(/\{\{(\w+)\}\}(\n?)/g, (_whole, key: string, end: string) => {
    const value = values[key];
    if (typeof value !== 'string') throw new Error(`The template ${name} has no value for ${key}.`);
    return value === '' ? '' : value + end;
  });
}

const chosen = (text: string, values: Values): string =>
  text.replaceAll(
    /\{\{([#^])(\w+)\}\}([^]*?)\{\{\/\2\}\}/g,
    (_whole, sign: string, flag: string, part: string) =>
      (values[flag] === true) === (sign === '#') ? chosen(part, values) : '',
  );
