// Faults of YAML's syntax, with what to write instead. They are looked for before everything else: a file that cannot be read
// would cause faults in every file that refers to it.
import { isScalar, Scalar, visit, type YAMLParseError } from 'yaml';
import { messageFor, namesOnly } from './did-you-mean.ts';
import type { Problem } from './problem.ts';
import type { Source, Sources } from './sources.ts';

/** Only the first of each file: the others are mostly consequences. */
export const yamlFaults = (sources: Sources): Problem[] =>
  [...sources].flatMap(([file, source]) => {
    const [error] = source.document.errors;
    if (error) return [faultOf(file, source, error)];
    if (source.document.contents === null)
      return [{ ...syntax(file, 1, 0), message: 'This file is empty. Write it, or delete it.' }];
    return emptyReference(file, source, sources);
  });

/** `$ref: #/components/…` without quotes is a comment, so the reference is empty. */
function emptyReference(file: string, { document, lines, text }: Source, sources: Sources): Problem[] {
  let offset: number | undefined;
  visit(document, {
    Pair(_, { key, value }) {
      if (!isScalar(key) || key.value !== '$ref' || !isScalar(value) || value.value !== null)
        return undefined;
      offset = key.range?.[0];
      return visit.BREAK;
    },
  });
  if (offset === undefined) return [];
  const { line, col } = lines.linePos(offset);
  const [, ref] = /^\$ref:\s+(#\/\S+)/.exec(text.slice(offset)) ?? [];
  const message = ref === undefined ? `This $ref is empty. ${namesOnly}` : messageFor(ref, file, sources);
  return [{ ...syntax(file, line, col - 1), message }];
}

const prose = ['description', 'summary', 'title', 'message', 'reason'];

/** In a text without quotes, ` #` begins a comment: valid YAML, but what follows is lost without a word. */
export const textsCutOff = (sources: Sources): Problem[] =>
  [...sources].flatMap(([file, { document, lines }]) => {
    const found: Problem[] = [];
    visit(document, {
      Pair(_, { key, value }) {
        if (!isScalar(key) || !prose.includes(String(key.value)) || !isScalar(value)) return;
        if (value.type !== Scalar.PLAIN || value.comment == null) return;
        // A mark of `npm run new`: see `unfinished` in contract.ts.
        if (value.comment.startsWith(' TODO')) return;
        const { line, col } = lines.linePos(value.range?.[1] ?? 0);
        const whole = `${String(value.value)} #${value.comment}`;
        found.push({
          ...{ rule: 'yaml-comment', file, line, column: col + 1 },
          message: `The text ends before " #", which begins a comment. Write: ${String(key.value)}: ${quoted(whole)}`,
        });
      },
    });
    return found;
  });

function faultOf(file: string, source: Source, error: YAMLParseError): Problem {
  const { text, lines } = source;
  const all = text.split('\n');
  const found = lines.linePos(error.pos[0]);
  // The parser can name the line after the one that lacks something.
  const line = /\S/.test(all[found.line - 1] ?? '') ? found.line : lastWritten(all, found.line);
  const tab = all.findIndex((content, index) => index <= line - 1 && /^ *\t/.test(content));
  if (tab >= 0)
    return {
      ...syntax(file, tab + 1, all[tab]?.indexOf('\t') ?? 0),
      message: 'YAML does not allow tabs for indentation. Replace the tab by two spaces.',
    };
  const above = lastWritten(all, line - 1);
  const comment = /^\s*(?:- )?[\w$-]+:\s+[^'"|>[{&*#].*?\s(#)/d.exec(all[above - 1] ?? '')?.indices?.[1]?.[0];
  if (comment !== undefined && above < line)
    return {
      ...syntax(file, above, comment),
      message:
        'A comment begins here, so the next line is no part of the text. Begin the text with >- on a line of its own.',
    };
  const bracket = openedBracket(all);
  if (bracket)
    return {
      ...syntax(file, bracket.line, bracket.column),
      message: `A ${bracket.sign} is opened here and never closed. Close it.`,
    };
  const besides = besidesItems(all, line);
  if (besides) return { ...syntax(file, line, indentOf(all[line - 1])), message: besides };
  const below = all.findIndex((content, index) => index >= line && /\S/.test(content));
  if (
    error.code === 'BLOCK_AS_IMPLICIT_KEY' &&
    !valueWithColon.test(all[line - 1] ?? '') &&
    indentOf(all[below]) > indentOf(all[line - 1])
  )
    return {
      ...syntax(file, below + 1, indentOf(all[below])),
      message: `Line ${below + 1} is indented deeper than line ${line}, which has a value already. Indent both alike.`,
    };
  const shown = openedQuote(error, all) ?? keyWithoutColon(all, line) ?? line;
  const content = all[shown - 1] ?? '';
  const column = shown === found.line ? found.col - 1 : content.search(/\S/);
  return { ...syntax(file, shown, column), message: twice(source, error) ?? adviceFor(error, content) };
}

const indentOf = (content = '') => content.search(/\S|$/);

const keyOf = (content: string) => /^(?:- )?([\w$'"-]+):(?:\s|$)/.exec(content.trim())?.[1];

/** Advice for a line beside the items of a list, which begins like none of them. */
function besidesItems(all: string[], line: number): string | undefined {
  const content = all[line - 1] ?? '';
  const indent = indentOf(content);
  const above = all[lastWritten(all, line - 1) - 1];
  const below = all.slice(line).find((one) => /\S/.test(one));
  const item = [above, below].find((one) => indentOf(one) === indent && one?.slice(indent).startsWith('- '));
  const text = content.trim();
  if (item === undefined || text.startsWith('-') || indent === 0) return undefined;
  const list = all.slice(0, line).findLast((one) => /\S/.test(one) && indentOf(one) < indent);
  const [key, owner] = [keyOf(content), keyOf(list ?? '')];
  // An item would begin as the others do.
  return key === undefined || owner === undefined || key === keyOf(item)
    ? `A dash is missing. Write: - ${text}`
    : `\`${key}\` is beside the items of \`${owner}\`. Indent it like \`${owner}\`, by ${indentOf(list)} spaces; or, if it is an item, begin it with a dash.`;
}

const syntax = (file: string, line: number, column: number) => ({
  rule: 'yaml-syntax',
  file,
  line,
  column: column + 1,
});

function lastWritten(all: string[], before: number): number {
  const index = all.slice(0, before).findLastIndex((content) => /\S/.test(content));
  return index < 0 ? 1 : index + 1;
}

/** The parser names the end of the text that a missing quote makes, which may be the end of the file. */
function openedQuote({ message }: YAMLParseError, all: string[]): number | undefined {
  const [, quote] = /Missing closing (["'])quote/.exec(message) ?? [];
  if (quote === undefined) return undefined;
  const index = all.findIndex((content) => content.split(quote).length % 2 === 0);
  return index < 0 ? undefined : index + 1;
}

/** The parser names a line below, or the end of the file. Brackets within a text do not count. */
function openedBracket(all: string[]): { line: number; column: number; sign: string } | undefined {
  const open: { line: number; column: number; sign: string }[] = [];
  for (const [index, content] of all.entries()) {
    if (open.length === 0 && !/^\s*(?:- )*(?:[\w$-]+:\s+)?[[{]/.test(content)) continue;
    const bare = content.replaceAll(/'[^']*'|"[^"]*"|(?<=\s)#.*/g, (text) => ' '.repeat(text.length));
    for (const { 0: sign, index: column } of bare.matchAll(/[[\]{}]/g))
      if (sign === '[' || sign === '{') open.push({ line: index + 1, column, sign });
      else open.pop();
  }
  return open[0];
}

function twice({ document, lines }: Source, { code, pos }: YAMLParseError): string | undefined {
  if (code !== 'DUPLICATE_KEY') return undefined;
  let message: string | undefined;
  visit(document, {
    Map(_, { items }) {
      // After a key without a value, the parser names the end of that key.
      const index = items.findIndex(({ key }) => isScalar(key) && (key.range?.[0] ?? 0) >= pos[0]);
      const [again, before] = [items[index], items[index - 1]];
      const first = again && items.slice(0, index).find(({ key }) => String(key) === String(again.key));
      if (!isScalar(first?.key)) return undefined;
      const { line } = lines.linePos(first.key.range?.[0] ?? 0);
      const isEmpty = isScalar(before?.value) && before.value.value === null;
      message = isEmpty
        ? `There is nothing below \`${String(before.key)}:\`. Indent \`${String(first.key)}\` and what follows deeper, or this line less.`
        : `\`${String(first.key)}\` is already in line ${line}. Remove one of the two, or merge them.`;
      return visit.BREAK;
    },
  });
  return message;
}

const isLoneWord = (content: string) => /^\s*[A-Za-z_$][\w$-]*\s*$/.test(content);

/** The parser may notice a missing colon only at the line below. */
function keyWithoutColon(all: string[], line: number): number | undefined {
  return [line, line - 1].find((number) => number > 0 && isLoneWord(all[number - 1] ?? ''));
}

function adviceFor({ code, message }: YAMLParseError, content: string): string {
  if (/Missing closing ["']quote/.test(message)) return 'A quote is opened here and never closed. Close it.';
  const [, start, plain] = /^\s*((?:- )?(?:[\w$-]+: +)?)([`@].*)/.exec(content) ?? [];
  if (plain !== undefined)
    return `A value that begins with ${plain[0]} needs quotes. Write: ${start}${quoted(plain)}`;
  const [, indent = '', key = '', value = ''] = valueWithColon.exec(content) ?? [];
  if (key)
    return `The value of ${key} contains a colon, so it needs quotes. Write: ${indent.trimStart()}${key}: ${quoted(value)}`;
  const [, name, rest] = /^\s*(?:- )?([A-Za-z_$][\w$-]*):([^\s].*)$/.exec(content) ?? [];
  if (name !== undefined) return `A space is missing after the colon. Write: ${name}: ${rest}`;
  if (isLoneWord(content)) return `A colon is missing. Write: ${content.trim()}:`;
  const [, word, after] = /^\s*(?:- )?([A-Za-z_$][\w$-]*)\s+([^:]+)$/.exec(content) ?? [];
  if (word !== undefined && code !== 'BAD_INDENT')
    return `A colon is missing. Write: ${word}: ${after?.trim()}`;
  return `${message.split('\n')[0]?.replace(/\.?$/, '.')} ${advice[code] ?? general}`;
}

const valueWithColon = /^(\s*(?:- )?)([\w$-]+):\s+([^'"|>[{&*#].*:(?:\s.*|$))/;

const quoted = (value: string) => `'${value.trimEnd().replaceAll("'", "''")}'`;

const general = 'Compare the indentation, quotes and brackets of this line with those above it.';

const advice: Partial<Record<string, string>> = {
  BAD_INDENT: 'Indent keys of the same mapping alike, by two spaces per level; close every bracket.',
  MISSING_CHAR: 'Close every quote and bracket that this value opens.',
  BAD_ALIAS: 'Put the value in quotes if it begins with *.',
};
