// Faults of YAML's syntax, with what to write instead. They are looked for before everything else: a file that cannot be read
// would cause faults in every file that refers to it.
import { isScalar, Scalar, visit, type YAMLParseError } from 'yaml';
import type { Problem } from './problem.ts';
import type { Source, Sources } from './sources.ts';

/** Only the first of each file: the others are mostly consequences. */
export const yamlFaults = (sources: Sources): Problem[] =>
  [...sources].flatMap(([file, source]) => {
    const [error] = source.document.errors;
    return error ? [faultOf(file, source, error)] : [];
  });

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

function faultOf(file: string, { text, lines }: Source, error: YAMLParseError): Problem {
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
  const shown = openedQuote(error, all) ?? keyWithoutColon(all, line) ?? line;
  const content = all[shown - 1] ?? '';
  const column = shown === found.line ? found.col - 1 : content.search(/\S/);
  return { ...syntax(file, shown, column), message: adviceFor(error, content) };
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

const isLoneWord = (content: string) => /^\s*[A-Za-z_$][\w$-]*\s*$/.test(content);

/** The parser may notice a missing colon only at the line below. */
function keyWithoutColon(all: string[], line: number): number | undefined {
  return [line, line - 1].find((number) => number > 0 && isLoneWord(all[number - 1] ?? ''));
}

function adviceFor({ code, message }: YAMLParseError, content: string): string {
  if (/Missing closing ["']quote/.test(message)) return 'A quote is opened here and never closed. Close it.';
  const [, indent = '', key = '', value = ''] =
    /^(\s*(?:- )?)([\w$-]+):\s+([^'"|>[{&*#].*:(?:\s.*|$))/.exec(content) ?? [];
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

const quoted = (value: string) => `'${value.trimEnd().replaceAll("'", "''")}'`;

const general = 'Compare the indentation, quotes and brackets of this line with those above it.';

const advice: Partial<Record<string, string>> = {
  BAD_INDENT: 'Indent keys of the same mapping alike, by two spaces per level; close every bracket.',
  DUPLICATE_KEY: 'Remove one of the two, or merge them.',
  MISSING_CHAR: 'Close every quote and bracket that this value opens.',
  BAD_ALIAS: 'Put the value in quotes if it begins with *.',
};
