// The review as Markdown, for a comment on a pull request.
import type { Field } from './fields.ts';
import { summary } from './places.ts';
import type { Line } from './report.ts';
import type { ExampleChange, NewOperation, NewSchema, Review } from './review.ts';

export function asMarkdown(review: Review): string {
  const { base, baseVersion, version, total, groups, consumers, examples, operations, schemas, problems } =
    review;
  const blocks = [
    `# Contract ${safe(baseVersion)} → ${safe(version)}`,
    `${safe(total)}, compared with ${code(base)}.`,
    ...(groups.length === 0 ? ['Nothing has changed.'] : []),
    ...(problems.length === 0
      ? []
      : ['## To do before this is merged', list(problems.map(({ message }) => fenced(message)))]),
    ...groups.flatMap(({ title, lines }) => [`## ${title} (${lines.length})`, list(lines.map(item))]),
    ...(operations.length === 0 ? [] : ['## New operations', list(operations.map(operation))]),
    ...(schemas.length === 0 ? [] : ['## New schemas', ...schemas.map(schema)]),
    ...(consumers.length === 0 ? [] : ['## Who is affected', table(consumers)]),
    ...(examples.length === 0 ? [] : ['## Examples, before and after', ...examples.map(example)]),
  ];
  return `${blocks.join('\n\n')}\n`;
}

const list = (items: string[]) => items.map((text) => `- ${text.replaceAll('\n', '\n  ')}`).join('\n');

function item({ place, usedBy, what, why, where, field, accepted }: Line): string {
  const users = usedBy.length === 0 ? '' : ` (${safe(summary(usedBy))})`;
  const reason = why === undefined ? '' : `: ${safe(why)}`;
  const note = accepted ? `\n${safe(accepted.reason)} Proved by ${code(accepted.test)}.` : '';
  return `**${safe(place)}**${users}: ${safe(what)}${reason}, in ${code(where)}${field ? `\n${fieldText(field)}` : ''}${note}`;
}

const fieldText = ({ type, required, description }: Field) =>
  `${safe(type)}, ${required ? 'required' : 'optional'}: ${safe(description)}`;

function operation({ place, summary: name, takes, hasBody, statuses, parts, ...one }: NewOperation): string {
  const given = [...takes.map(code), ...(hasBody ? ['a body'] : [])].join(', ') || 'nothing';
  return `${code(place)}: ${safe(name)}. Needs ${one.scopes.map(code).join(' or ')}; ${safe(one.accounts)}. Takes ${given}; answers ${safe(statuses.join(', '))}.${
    parts.length === 0 ? '' : ` New with it: ${safe(parts.join(', '))}.`
  }`;
}

const cell = (text: string) => text.replaceAll('\n', ' ').replaceAll(/(?<!\\)\|/g, String.raw`\|`);

const schema = ({ name, description, values, fields }: NewSchema) =>
  [
    `${code(name)}: ${safe(description)}${values.length === 0 ? '' : ` One of ${values.map(code).join(', ')}.`}`,
    ...(fields.length === 0
      ? []
      : ['', '| Field | Type | Required | Description |', '| --- | --- | --- | --- |']),
    ...fields.map(
      (field) =>
        `| ${cell(code(field.name))} | ${cell(safe(field.type))} | ${field.required ? 'yes' : 'no'} | ${cell(safe(field.description))} |`,
    ),
  ].join('\n');

const table = (rows: Review['consumers']) =>
  [
    '| Consumers of | Breaking | Additions | Other |',
    '| --- | ---: | ---: | ---: |',
    ...rows.map(
      ({ place, breaking, additions, other }) =>
        `| ${cell(code(place))} | ${breaking} | ${additions} | ${other} |`,
    ),
  ].join('\n');

function example({ name, kind, usedBy, lines }: ExampleChange): string {
  const users = usedBy.length === 0 ? '' : `, in ${safe(summary(usedBy))}`;
  const text = lines.map(({ mark, text: line }) => `${mark} ${line}`).join('\n');
  // Folded, because examples are long. GitHub needs the empty lines.
  return `<details><summary>${entities(name)} (${kind}${entities(users)})</summary>\n\n${fenced(text, 'diff')}\n\n</details>`;
}

/** As text: Markdown, HTML and mentions in it mean nothing. Code spans stay. */
const safe = (text: string) =>
  text
    .split(/(`[^`\n]+`)/)
    .map((part, index) =>
      index % 2 === 1 ? part : entities(part.replaceAll(/[\\`*_[\]~#|!]/g, String.raw`\$&`)),
    )
    .join('')
    .replaceAll('\n', ' ');

const entities = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('@', '&#64;');

/** With more backticks around it than there are in it. */
const ticks = (text: string, least: number) =>
  '`'.repeat(Math.max(least, ...(text.match(/`+/g) ?? []).map(({ length }) => length + 1)));

function code(text: string): string {
  const around = ticks(text, 1);
  const space = text.includes('`') ? ' ' : '';
  return `${around}${space}${text.replaceAll('\n', ' ')}${space}${around}`;
}

function fenced(text: string, language = 'text'): string {
  const around = ticks(text, 3);
  return `${around}${language}\n${text}\n${around}`;
}
