// Tables that people write, in the introduction and in the description of an enumeration. A change of the contract leaves
// them out of date, so each thing that they list must have a row.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isScalar, isSeq, visit } from 'yaml';
import type { Problem } from './problem.ts';
import type { Source, Sources } from './sources.ts';

interface Row {
  line: number;
  cells: string[];
}

interface Wanted {
  name: string;
  /** What the row must contain. */
  parts: string[];
  /** To paste. */
  row: string;
}

const introduction = 'openapi/introduction.md';

export function missingRows(project: string, sources: Sources): Problem[] {
  const path = join(project, introduction);
  const rows = existsSync(path) ? rowsIn(readFileSync(path, 'utf8'), 1) : [];
  const tables: [head: string, wanted: Wanted[]][] = [
    ['Operation Scope', operations(sources)],
    ['Status `code`', errorCodes(sources)],
    ['Event When', events(sources)],
  ];
  return [
    ...tables.flatMap(([head, wanted]) => {
      const start = rows.findIndex(({ cells }) => cells.slice(0, 2).join(' ') === head);
      const table = rows
        .slice(Math.max(0, start))
        .filter(({ line }, index, all) => line === (all[0]?.line ?? 0) + index);
      return start === -1 ? [] : lacking(introduction, table, wanted, ({ cells }) => cells.join(' '));
    }),
    ...[...sources].flatMap(([file, source]) => enumerations(file, source)),
  ];
}

const rowsIn = (text: string, first: number): Row[] =>
  text.split('\n').flatMap((content, index) => {
    const [, inner] = /^ *\|(.+)\| *$/.exec(content) ?? [];
    return inner === undefined
      ? []
      : [{ line: first + index, cells: inner.split(/(?<!\\)\|/).map((cell) => cell.trim()) }];
  });

function lacking(file: string, table: Row[], wanted: Wanted[], textOf: (row: Row) => string): Problem[] {
  const missing = wanted.filter(
    ({ parts }) => !table.some((row) => parts.every((part) => textOf(row).includes(part))),
  );
  return missing.map(({ name, row }) => ({
    rule: 'table-row',
    file,
    line: table.at(-1)?.line ?? 1,
    column: 1,
    message: `This table has no row for ${name}. Add it, with your words: ${row}`,
  }));
}

interface Operation {
  operationId?: string;
  summary?: string;
  security?: Record<string, string[]>[];
}

const operations = (sources: Sources): Wanted[] =>
  [...sources].flatMap(([file, { document }]) => {
    if (!file.startsWith('openapi/paths/')) return [];
    const item = document.toJS() as Record<string, Operation>;
    return Object.values(item).flatMap(({ operationId: id, summary = '', security = [] }) => {
      if (id === undefined) return [];
      const scopes = security.flatMap((one) => Object.values(one).flat()).map((scope) => `\`${scope}\``);
      const row = `| [${summary}](#operation/${id}) | ${scopes.join(' or ')} |`;
      return [{ name: `${id} with ${scopes.join(' or ')}`, parts: [`(#operation/${id})`, ...scopes], row }];
    });
  });

function errorCodes(sources: Sources): Wanted[] {
  const codes = sources.get('openapi/components/schemas/ErrorCode.yaml')?.document.get('enum');
  const examples = [...sources].flatMap(([file, { document }]) =>
    file.startsWith('openapi/components/examples/') ? [document] : [],
  );
  return (isSeq(codes) ? (codes.toJSON() as string[]) : []).map((code) => {
    const shown = examples.find((one) => one.getIn(['value', 'code']) === code);
    const status = shown?.getIn(['value', 'status']);
    return {
      ...named(code),
      row: `| ${typeof status === 'number' ? status : 'status'} | \`${code}\` | what happened | what to do |`,
    };
  });
}

function events(sources: Sources): Wanted[] {
  const webhooks = sources.get('openapi/openapi.yaml')?.document.get('webhooks');
  const names = isMap(webhooks) ? webhooks.items.map(({ key }) => String(key)) : [];
  return names.map((event) => ({ ...named(event), row: `| \`${event}\` | when it is sent |` }));
}

const named = (name: string) => ({ name: `\`${name}\``, parts: [`\`${name}\``] });

/** Those whose description has a table of the values, in its first column. */
function enumerations(file: string, { document, lines, text }: Source): Problem[] {
  const found: Problem[] = [];
  visit(document, {
    Map(_, schema) {
      const [values, description] = [schema.get('enum'), schema.get('description', true)];
      if (!isSeq(values) || !isScalar(description) || !description.range) return;
      const [start, end] = description.range;
      const rows = rowsIn(text.slice(start, end), lines.linePos(start).line);
      const first = ({ cells }: Row) => cells[0] ?? '';
      const wanted = values.toJSON().map((value) => {
        const rest = (rows[0]?.cells.slice(1) ?? []).map((title) => ` ${title.toLowerCase()} |`).join('');
        return { ...named(String(value)), row: `| \`${String(value)}\` |${rest}` };
      });
      const isListed = ({ parts: [part = ''] }: Wanted) => rows.some((row) => first(row).includes(part));
      if (wanted.some(isListed)) found.push(...lacking(file, rows, wanted, first));
    },
  });
  return found;
}
