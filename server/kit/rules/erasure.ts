// What becomes of the properties of a record when a person is erased.

/** Decide for each property: `kept`, or `erased` if it may say something about a person: it becomes null. A function makes another value. */
export type ErasureRules<Record> = {
  readonly [Name in keyof Record]-?:
    | 'kept'
    | (null extends Record[Name] ? 'erased' : Refused<'it cannot be null: a function makes another value'>)
    | ((value: NonNullable<Record[Name]>) => NonNullable<Record[Name]>);
};

/** The compiler prints why. No value has this type. */
export interface Refused<Why> {
  [why]: Why;
}
declare const why: unique symbol;

const each =
  <const Rule extends string>(rule: Rule) =>
  <const Name extends string>(...names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, rule])) as { readonly [_ in Name]: Rule };

/** Several properties at once. */
export const [kept, erased] = [each('kept'), each('erased')];

/** In the order of the record. A property without a rule is left out, because nobody knows what it says. */
export const eraser =
  <Resource extends object>(rules: ErasureRules<Resource>) =>
  (resource: Resource): Resource =>
    Object.fromEntries(
      (Object.keys(resource) as (keyof Resource)[]).flatMap((name) =>
        Object.hasOwn(rules, name) ? [[name, valueAfter(rules[name], resource[name])]] : [],
      ),
    ) as Resource;

function valueAfter<Value>(rule: ErasureRules<{ of: Value }>['of'], value: Value): unknown {
  if (value === null || value === undefined || rule === 'kept') return value;
  return typeof rule === 'function' ? rule(value) : null;
}

/** What happens to each column of a table with columns that are erased. */
export type ColumnRules = Readonly<Record<string, 'kept' | 'erased' | (() => unknown)>>;

/** The columns that change, and what they become. Only for tables without snapshots. */
export const erasedValues = (rules: ColumnRules): [column: string, value: unknown][] =>
  Object.entries(rules).flatMap(([name, rule]) =>
    rule === 'kept' ? [] : [[name, typeof rule === 'function' ? rule() : null]],
  );
