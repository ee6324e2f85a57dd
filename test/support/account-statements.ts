/**
 * Says whether a statement names the merchant account of every table in it that belongs to accounts. It does not parse SQL: it
 * splits a statement into its selects, and looks in each for a comparison of the account. test/unit/account-statements.test.ts
 * shows what it finds and what it lets pass.
 */
import { exceptions } from '../../server/store/across-accounts.ts';

/** Tables whose records belong to one merchant account each. */
export const accountTables = [
  'buyers',
  'payment_methods',
  'gift_cards',
  'transactions',
  'fingerprint_progress',
  'fingerprint_moves',
];

/** They belong to accounts too, but have no key with the account yet. Must be empty before the next release. */
export const notYet = ['events', 'deliveries', 'delivery_attempts', 'idempotency_keys'];

const account = 'merchant_account_id';
const table = `(?:public\\.)?(${accountTables.join('|')})`;
const keywords =
  'on|where|set|join|left|right|inner|cross|full|order|group|limit|for|union|except|intersect|returning|using|values|select';
const references = new RegExp(
  `(?:\\bfrom|\\bjoin|\\bupdate|,)\\s+${table}(?![\\w.])(?:\\s+(?:as\\s+)?(?!(?:${keywords})\\b)(\\w+))?`,
  'g',
);
const insertion = new RegExp(`\\binsert into ${table}(?:\\s+as\\s+\\w+)?\\s*(?:⟨([^⟩]*)⟩)?`);

/** What is wrong with the statement; undefined when nothing is. */
export function faultOf(text: string): string | undefined {
  const [, exception] = /\/\* across accounts: ([\w-]*) \*\//.exec(text) ?? [];
  const scopes = scopesOf(text);
  const fault = scopes.map(faultIn).find((one) => one !== undefined);
  if (exception === undefined || fault === undefined) return fault;
  if (!Object.hasOwn(exceptions, exception)) return `there is no exception ${exception}`;
  const changes = scopes.find((scope) =>
    /^(insert|update|delete)\b|\bfor (no key )?update\b|\bfor (key )?share\b/.test(scope),
  );
  return changes && 'an exception changes or locks rows of several accounts';
}

/** The selects and changes of a statement, each without those inside of it. Other parentheses become ⟨ ⟩. */
function scopesOf(text: string): string[] {
  let rest = text
    .replace(/'(?:[^']|'')*'|--[^\n]*|\/\*.*?\*\//gs, (part) => (part.startsWith("'") ? "''" : ' '))
    .replaceAll('"', '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
  if (!/^[(\s]*(select|insert|update|delete|with)\b/.test(rest)) return [];
  const scopes: string[] = [];
  const add = (scope: string) => {
    scopes.push(...scope.split(/\b(?:union(?: all)?|except|intersect)\b/).map((one) => one.trim()));
  };
  for (let isNew = true; isNew;) {
    isNew = false;
    rest = rest.replace(/\(([^()]*)\)/g, (_, inside: string) => {
      isNew = true;
      if (!/^\s*(select|insert|update|delete|with)\b/.test(inside)) return `⟨${inside}⟩`;
      add(inside);
      return ' scope ';
    });
  }
  add(rest);
  return scopes;
}

function faultIn(scope: string): string | undefined {
  const [, into, columns = ''] = insertion.exec(scope) ?? [];
  if (into !== undefined) {
    if (!columns.split(/[\s,]+/).includes(account)) return `inserts into ${into} without ${account}`;
    const [, target] = /\bon conflict ⟨([^⟩]*)⟩/.exec(scope) ?? [];
    if (target !== undefined && !target.includes(account)) return `on conflict of ${into} without ${account}`;
  }
  const assignments = /\bset\b(.*?)(?=\bfrom\b|\bwhere\b|\breturning\b|$)/.exec(scope)?.[1] ?? '';
  const found = [...scope.matchAll(references)].map(([, name = '', alias]) => ({
    table: name,
    alias: alias ?? name,
  }));
  if (found.length === 0 && into === undefined) return undefined;
  if (new RegExp(`(^|,)\\s*(\\w+\\.)?${account}\\s*=`).test(assignments)) return `assigns ${account}`;
  const conditions = /\b(?:where|on)\b(.*)$/.exec(scope.replace(assignments, ' '))?.[1] ?? '';
  let outside = conditions;
  while (/⟨[^⟨⟩]*⟩/.test(outside)) outside = outside.replace(/⟨[^⟨⟩]*⟩/g, '');
  if (found.length > 0 && /\bor\b/.test(outside)) return 'has a condition with `or` outside of parentheses';
  return unnamed(found, conditions)?.replace(/^/, `does not name the account of `);
}

/** Of two tables that are joined by the account, one must be compared with something else. */
function unnamed(found: { table: string; alias: string }[], conditions: string): string | undefined {
  const aliases = found.map(({ alias }) => alias);
  const others = (alias: string) => {
    const own = `(?<![\\w.])${aliases.length === 1 ? `(?:${alias}\\.)?` : `${alias}\\.`}${account}\\b`;
    const right = [...conditions.matchAll(new RegExp(`${own}\\s*(?:=|in\\b)\\s*([\\w.$⟨]+)`, 'g'))];
    const left = [...conditions.matchAll(new RegExp(`([\\w.$⟩]+)\\s*=\\s*${own}`, 'g'))];
    return [...right, ...left].map(([, other = '']) => other);
  };
  const named = new Set<string>();
  for (let before = -1; before !== named.size;) {
    before = named.size;
    for (const alias of aliases) {
      const isNamed = others(alias).some((other) => {
        const partner = aliases.find((one) => other === `${one}.${account}`);
        return partner === undefined || named.has(partner);
      });
      if (isNamed) named.add(alias);
    }
  }
  return found.find(({ alias }) => !named.has(alias))?.table;
}
