// The page of an operation or an event, as Markdown: what the contract says, in the order in which a reader needs it.
import { resolve } from '../../server/kit/contract/load.ts';
import { inTwo } from '../generate/introduction.ts';
import type { Content, Contract, Item, Parameter } from './contract.ts';
import { code, fieldsOf, parameterField, rulesOf, type Field } from './fields.ts';
import { itemId } from './markdown.ts';

export interface Section {
  heading: string;
  text?: string[];
  /** The search leads to them, too. */
  fields: Field[];
  /** By the reader, who otherwise receives them. */
  isSent: boolean;
}

/** `contract` is that for readers. */
export function operationPage(contract: Contract, item: Item): string {
  const { 'x-codeSamples': samples = [], summary, description = '' } = item.operation;
  const shown = new Map<string, string>();
  const parts = [
    `# ${summary}`,
    calledBy(item),
    description.trim(),
    // With nothing between them, so that they become tabs.
    ...samples.map(({ lang, source }) => fence(fences[lang] ?? lang.toLowerCase(), source)),
    ...sectionsOf(contract, item).flatMap(({ heading, text = [], fields, isSent }) => [
      heading,
      ...text,
      linesOf(fields, isSent, shown).join('\n'),
    ]),
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

function calledBy({ path, method, operation, isEvent }: Item): string {
  if (isEvent) return `Event ${code(path)}: a ${method} to the address of your receiver.`;
  const scopes = (operation.security ?? []).flatMap((one) => Object.values(one).flat()).map(code);
  return `${code(`${method} ${path}`)}${scopes.length > 0 ? `, with the scope ${scopes.join(' or ')}` : ''}`;
}

/** As guides call them, because browser/site.ts remembers which one a reader chose. */
const fences: Record<string, string> = { curl: 'sh', TypeScript: 'ts', JavaScript: 'js', 'C#': 'csharp' };

export const fence = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``;

/** Where parameters may be, in the order of the page. */
const places = { path: 'Path parameters', query: 'Query parameters', header: 'Headers', cookie: 'Cookies' };

/** Everything that has names. */
export function sectionsOf(contract: Contract, { operation, isEvent }: Item): Section[] {
  const { parameters = [], requestBody, responses = {} } = operation;
  const named = parameters.map((one) => resolve(contract, one));
  const answers = Object.entries(responses).map(([status, one]) => [status, resolve(contract, one)] as const);
  const headers = new Map(answers.flatMap(([, one]) => Object.entries(one.headers ?? {})));
  const listed = (heading: string, given: Parameter[], isSent = !isEvent): Section[] =>
    given.length === 0
      ? []
      : [{ heading: `## ${heading}`, fields: given.map((one) => parameterField(contract, one)), isSent }];
  return [
    ...Object.entries(places).flatMap(([place, heading]) =>
      listed(
        heading,
        named.filter((one) => one.in === place),
      ),
    ),
    ...(requestBody ? [{ heading: '## Body', isSent: !isEvent, ...bodyOf(contract, requestBody) }] : []),
    { heading: isEvent ? '## What your receiver answers' : '## Responses', fields: [], isSent: false },
    ...responsesOf(contract, answers),
    ...listed(
      'Response headers',
      [...headers].map(([name, one]) => ({ name, in: 'header', required: true, ...resolve(contract, one) })),
      false,
    ),
  ];
}

function responsesOf(contract: Contract, answers: (readonly [string, Content])[]): Section[] {
  const shown = new Map<string, string>();
  return answers.map(([status, answer]) => {
    const { text, fields, examples } = bodyOf(contract, answer);
    const names = new Set(examples.flatMap((one) => (one as { code?: string } | null)?.code ?? []));
    const [what = '', todo] = status.startsWith('2') ? [] : inTwo(answer.description ?? '');
    const key = JSON.stringify(fields);
    const first = fields.length > 0 ? shown.get(key) : undefined;
    if (!first) shown.set(key, status);
    return {
      heading: `### ${[status, ...[...names].map(code)].join(' ')}`,
      text: [
        ...(what ? [todo ? `${what} **What to do:** ${todo}` : what, ...text.slice(1)] : text),
        ...(first ? [`Fields as in ${first}.`] : []),
      ],
      fields: first ? [] : fields,
      isSent: false,
    };
  });
}

/** Of a request or a response. The first example of a request is that of the first response, too. */
function bodyOf(contract: Contract, { description = '', content = {} }: Content) {
  const { schema = {}, examples: named = {} } =
    content['application/json'] ?? Object.values(content)[0] ?? {};
  const rules = rulesOf(contract, schema).filter((rule) => !/^(object|any value)$/.test(rule));
  const examples = Object.values(named).map((one) => resolve(contract, one).value);
  const text = [description.trim(), ...(rules.length > 0 ? [`_${rules.join(', ')}_`] : [])];
  return {
    text: [...text, ...examples.slice(0, 1).map((one) => fence('json', compact(one)))],
    examples,
    fields: fieldsOf(contract, schema),
  };
}

/** A list in Markdown. `shown`: many values are listed once in a page, at the first field that has them. */
function linesOf(fields: Field[], isSent: boolean, shown: Map<string, string>, parents = ''): string[] {
  return fields.flatMap(({ name, required, rules, description, fields: inner, isKind }) => {
    const place = isKind ? parents : itemId(parents, name);
    const [type = '', ...others] = rules.map((rule) => {
      const first = rule.length < 150 ? undefined : shown.get(rule);
      if (!first) shown.set(rule, place);
      return first ? `the values of ${code(first)} above` : rule;
    });
    const presence = isSent ? required && 'required' : !required && 'not always there';
    const text = description.trim();
    return [
      `- ${isKind ? `**${name}**` : code(name)} _${[type, presence, ...others].filter(Boolean).join(', ')}_${text ? '\\' : ''}`,
      ...[text, ...linesOf(inner, isSent, shown, place)]
        .join('\n')
        .split('\n')
        .map((line) => (line ? `  ${line}` : line)),
    ];
  });
}

/** JSON in which what fits on a line is on one line. */
export function compact(value: unknown, indent = ''): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const isList = Array.isArray(value);
  const parts = (within: string) =>
    Object.entries(value).map(
      ([key, one]) => (isList ? '' : `${JSON.stringify(key)}: `) + compact(one, within),
    );
  const [open, close, space] = isList ? ['[', ']', ''] : ['{', '}', ' '];
  if (parts('').length === 0) return open + close;
  const line = open + space + parts('').join(', ') + space + close;
  if (!line.includes('\n') && indent.length + line.length <= 80) return line;
  const inner = `\n${indent}  `;
  return `${open}${inner}${parts(`${indent}  `).join(`,${inner}`)}\n${indent}${close}`;
}
