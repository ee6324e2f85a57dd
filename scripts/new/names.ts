// Names of one thing in the forms that the house rules ask for.
import { Refusal } from './plan.ts';

const words = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');

/** With a capital, as a sentence begins. */
export const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
export const pascal = (name: string) => words(name).map(sentence).join('');
export const kebab = (name: string) => words(name).join('-');
/** In a sentence: `BuyerNote` is "buyer note". */
export const spoken = (name: string) => words(name).join(' ');
export const withArticle = (text: string) => `${/^[aeiou]/.test(text) ? 'an' : 'a'} ${text}`;

export const singular = (word: string): string => {
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (/(ss|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return /[^s]s$/.test(word) ? word.slice(0, -1) : word;
};

export const plural = (word: string): string => {
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return /(s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`;
};

export function mustMatch(form: RegExp, name: string, advice: string): void {
  if (!form.test(name)) throw new Refusal(`"${name}" is not a name that the contract takes. ${advice}`);
}
