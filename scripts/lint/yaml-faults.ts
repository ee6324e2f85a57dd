// Faults of YAML's syntax. They are looked for before everything else: a file that cannot be read would cause faults in every
// file that refers to it.
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
      return [{ ...syntax(file, 1, 1), message: 'This file is empty. Write it, or delete it.' }];
    return emptyReference(file, source, sources);
  });

const syntax = (file: string, line: number, column: number) => ({ rule: 'yaml-syntax', file, line, column });

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
  return [{ ...syntax(file, line, col), message }];
}

const prose = ['description', 'summary', 'title'];

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
  const tab = all.slice(0, found.line).findIndex((content) => /^ *\t/.test(content));
  if (tab >= 0)
    return {
      ...syntax(file, tab + 1, (all[tab] ?? '').indexOf('\t') + 1),
      message: 'YAML does not allow tabs for indentation. Replace the tab by two spaces.',
    };
  const conflict = all.findIndex((content) => /^<{7} /.test(content));
  if (conflict >= 0)
    return {
      ...syntax(file, conflict + 1, 1),
      message:
        'Git left a conflict here. Choose between its two sides, and remove the lines <<<<<<<, ======= and >>>>>>>.',
    };
  const [message = ''] = error.message.split('\n');
  return {
    ...syntax(file, found.line, found.col),
    message: remedyFor(error, all[found.line - 1]) ?? `${message.replace(/\.?$/, '.')} ${advice}`,
  };
}

const advice = 'Compare the indentation, quotes and brackets of this line with those above it.';

function remedyFor({ code }: YAMLParseError, content = ''): string | undefined {
  if (code === 'DUPLICATE_KEY')
    return 'This name is there already, further up in the same map. Remove one of the two, or correct its name or indentation.';
  const [, start = '', key, value = ''] =
    /^\s*((?:- )?)([\w$-]+):\s+([^'"|>[{&*#].*:(?:\s.*|$))/.exec(content) ?? [];
  if (key !== undefined)
    return `The value of ${key} contains a colon, so it needs quotes. Write: ${start}${key}: ${quoted(value)}`;
  if (code !== 'MULTILINE_IMPLICIT_KEY' && code !== 'MISSING_CHAR') return undefined;
  const [, name, rest] = /^\s*(?:- )?([A-Za-z_$][\w$-]*):([^\s].*)$/.exec(content) ?? [];
  if (name !== undefined) return `A space is missing after the colon. Write: ${name}: ${rest}`;
  const [, word, after = ''] = /^\s*(?:- )?([A-Za-z_$][\w$-]*)((?:\s+[^:]+)?)$/.exec(content) ?? [];
  return word === undefined ? undefined : `A colon is missing. Write: ${word}:${after}`;
}

const quoted = (value: string) => `'${value.trimEnd().replaceAll("'", "''")}'`;
