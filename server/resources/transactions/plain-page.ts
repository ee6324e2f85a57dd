// A page of one account without filters, which most requests ask for. Its statement is compiled once for each form and limit; a request
// only adds its values.
import { CompiledQuery, sql, type RawBuilder } from 'kysely';
import { timestamp } from '../../database/columns.ts';
import type { Db } from '../../database/database.ts';
import type { Range } from '../../database/paging.ts';
import type { Position } from '../../rules/cursor.ts';
import { itemWith, nothing, plainRange, type TransactionItem } from './ranges.ts';

const valueNames = ['account', 'createdAt', 'id', 'createdAtBehind', 'idBehind'] as const;
type ValueName = (typeof valueNames)[number];

interface Template {
  text: string;
  /** Which value each of its parameters is. */
  order: ValueName[];
}

/** A page is compiled with the names of its values instead of them, so its parameters are the names in their order. */
function compilePlainPage(db: Db, range: Range, behind: Range | undefined): Template {
  const value = (name: ValueName): RawBuilder<unknown> => sql`${name}`;
  const at = range.at && { createdAt: value('createdAt'), id: value('id') };
  const atBehind = behind?.at && { createdAt: value('createdAtBehind'), id: value('idBehind') };
  const account = value('account');
  const what = itemWith(behind && plainRange(account, atBehind, behind, nothing));
  const { sql: text, parameters } = plainRange(account, at, range, what).compile(db);
  return { text, order: parameters.map(nameOf) };
}

function nameOf(parameter: unknown): ValueName {
  const name = valueNames.find((one) => one === parameter);
  if (!name) throw new Error('A plain page has a parameter that no request has a value for.');
  return name;
}

const valuesOf = (
  account: string,
  at: Position | undefined,
  behind: Position | undefined,
): Record<ValueName, string | undefined> => ({
  account,
  createdAt: at && timestamp(at.createdAt),
  id: at?.id,
  createdAtBehind: behind && timestamp(behind.createdAt),
  idBehind: behind?.id,
});

const templates = new Map<string, Template>();

/** The statement of a page, with the values of this request. */
export function plainPage(
  db: Db,
  account: string,
  range: Range,
  behind: Range | undefined,
): CompiledQuery<TransactionItem> {
  const form = `${range.side} ${range.limit} ${range.at === undefined} ${behind?.at === undefined}`;
  const template = templates.get(form) ?? compilePlainPage(db, range, behind);
  templates.set(form, template);
  const values = valuesOf(account, range.at, behind?.at);
  const parameters = template.order.map((name) => values[name]);
  return CompiledQuery.raw(template.text, parameters);
}
