/**
 * Says whether a statement names the merchant account of every table in it that belongs to accounts. It does not parse SQL: it
 * splits a statement into its selects, and looks in each for a comparison of the account.
 */
import type pg from 'pg';

/**
 * They name accounts, and belong to none: their records may be for all accounts, or for several. Every other table with a column
 * `merchant_account_id` belongs to accounts: see `listAccountTables`.
 */
const globalTables = ['api_key_pair_merchant_accounts', 'webhook_subscriptions'];

/** Why they cannot name the account. They only read, and lock nothing: Citus cannot lock rows of several servers. */
const exceptions = {
  'account-of-id': 'Operators know only the ID. What follows names the account.',
  'sealed-values': 'Commands, and a start, read what is sealed in the whole installation.',
  'due-deliveries': 'A worker looks for what is due of all accounts.',
  'deliveries-of-subscription': 'A subscription may be for all accounts.',
  'all-deliveries': 'An operator lists deliveries of all accounts.',
  'newest-everywhere': 'A list of all accounts, or of many, reads one index, not one range per account.',
  'accounts-with-rows': 'Jobs ask which accounts have something to do. It is done by account.',
  'flat-list': 'Citus merges the pages of its servers; it cannot limit each account.',
  'due-replacements':
    'The daily job looks for expired cards of all accounts. Each is changed by its account.',
  'cards-in-processing': 'A metric counts the cards of all accounts that are not verified yet.',
  'import-duplicates': 'IDs are unique over all accounts, so an import may repeat one of another account.',
  'transactions-of-buyer': 'A buyer may be named in any account. What is found is erased by account.',
  'next-rows': 'An erasure goes through the cards and events of all accounts. It erases by account.',
} as const;

/** They change rows. A row meets only rows of its own account and global tables, so each server can do its part by itself. */
const changing = {
  leases: 'A worker leases deliveries of several accounts at once.',
} as const;

const account = 'merchant_account_id';

/** Tables whose records belong to one merchant account each, as the catalogue of a migrated database has them. */
export async function listAccountTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname::text as name from pg_class join pg_attribute on attrelid = pg_class.oid
     where relnamespace = 'public'::regnamespace and relkind = 'r' and attname = $1 and not attisdropped and relname <> all ($2::text[])
     order by relname`,
    [account, globalTables],
  );
  return rows.map(({ name }) => name);
}

const keywords =
  'on|where|set|join|left|right|inner|cross|full|order|group|limit|for|union|except|intersect|returning|using|values|select';

interface Patterns {
  references: RegExp;
  insertion: RegExp;
}

function patternsFor(tables: readonly string[]): Patterns {
  const table = `(?:public\\.)?(${tables.join('|')})`;
  return {
    references: new RegExp(
      `(?:\\bfrom|\\bjoin|\\bupdate|\\busing|,)\\s+${table}(?![\\w.])(?:\\s+(?:as\\s+)?(?!(?:${keywords})\\b)(\\w+))?`,
      'g',
    ),
    insertion: new RegExp(`\\binsert into ${table}(?:\\s+as\\s+\\w+)?\\s*(?:⟨([^⟩]*)⟩)?`),
  };
}

/** Checks statements on these tables. Returns what is wrong with one; undefined when nothing is. */
export function createCheck(tables: readonly string[]): (text: string) => string | undefined {
  const patterns = patternsFor(tables);
  return (text) => faultOf(text, patterns);
}

function faultOf(text: string, patterns: Patterns): string | undefined {
  const [, exception] = /\/\* across accounts: ([\w-]*) \*\//.exec(text) ?? [];
  const scopes = scopesOf(text);
  const fault = scopes.map((scope) => faultIn(scope, patterns)).find((one) => one !== undefined);
  if (exception === undefined || fault === undefined) return fault;
  if (Object.hasOwn(changing, exception)) return undefined;
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

function faultIn(scope: string, { insertion, references }: Patterns): string | undefined {
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
