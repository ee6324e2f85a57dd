// What a reviewer of a pull request reads, as Markdown for a comment, and the same as a page that loads nothing. A pull request
// may come from a stranger, so what the contract says is escaped or in code: it is neither HTML nor Markdown, and mentions nobody.
import { marked } from 'marked';
import type { Json } from './change.ts';
import { totalOf, type Line, type Outcome } from './report.ts';
import { textChanges } from './texts.ts';

export function asMarkdown(outcome: Outcome, before: Json, after: Json): string {
  const { base, baseVersion, version, changes, problems } = outcome;
  const texts = textChanges(before, after);
  const others = changes.filter(({ rating }) => rating === 'other');
  return [
    `# Contract ${escaped(baseVersion)} → ${escaped(version)}`,
    `${totalOf(changes)}, since ${plain(base)}`,
    ...problems.map(({ message }) => {
      const [, sentence = '', rest = ''] = /^(.*)\n*([^]*)$/.exec(message) ?? [];
      return `✖ ${plain(sentence)}${rest === '' ? '' : `\n\n${fenced(rest, 'text')}`}`;
    }),
    ...sections(changes.filter(({ rating }) => rating !== 'other')),
    ...(others.length === 0 ? [] : [folded(`Other (${others.length})`, sections(others).join('\n\n'))]),
    ...(texts.length === 0 ? [] : ['## Before and after']),
    ...texts.map(({ place, diff }) => folded(place, fenced(diff, 'diff'))),
  ].join('\n\n');
}

/** One for each operation, webhook and component that several of them use; those with breaking changes first. */
function sections(lines: Line[]): string[] {
  const groups = new Map<string, Line[]>();
  for (const line of lines) {
    const heading = (line.usedBy.length === 1 && line.usedBy[0]) || line.place;
    groups.set(heading, [...(groups.get(heading) ?? []), line]);
  }
  const breaks = (own: Line[]) => Number(own.some(({ rating }) => rating === 'breaking'));
  return [...groups]
    .sort(([, one], [, other]) => breaks(other) - breaks(one))
    .map(([heading, own]) => {
      const users = own[0]?.place === heading ? own[0].usedBy : [];
      return [
        `## ${plain(heading)}`,
        ...(users.length === 0 ? [] : [`Used by ${users.map(plain).join(', ')}`]),
        own.map((line) => item(line, heading)).join('\n'),
      ].join('\n\n');
    });
}

const labels = { breaking: '**Breaking:** ', addition: 'Addition: ', other: '' };

function item({ rating, place, what, why, where }: Line, heading: string): string {
  const within = place === heading ? '' : `${plain(place)}: `;
  return `- ${labels[rating]}${within}${plain(what)}${why === undefined ? '' : `: ${plain(why)}`} (${plain(`\`${where}\``)})`;
}

/** GitHub needs the empty lines. There is no Markdown in a title. */
const folded = (title: string, content: string) =>
  `<details><summary>${escaped(title)}</summary>\n\n${content}\n\n</details>`;

/** With more backticks around it than there are in it. */
function fenced(text: string, language: string): string {
  const around = '`'.repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map(({ length }) => length + 1)));
  return `${around}${language}\n${text}\n${around}`;
}

/** Text on one line, in which only code spans are Markdown. */
const plain = (text: string) =>
  text
    .replaceAll(/\s+/g, ' ')
    .split(/(`[^`]+`)/)
    .map((part, index) => (index % 2 === 1 ? part : escaped(part)))
    .join('');

const escaped = (text: string) => text.replaceAll(/[^\w\s/.,:{}()-]|_/gu, entity);

/** An `@` is followed by a character without width, because GitHub looks for mentions after it has decoded entities. */
const entity = (letter: string) => `&#${letter.codePointAt(0)};${letter === '@' ? '&#8288;' : ''}`;

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
pre { padding: 0.75rem; border: 1px solid light-dark(#ccc, #555); border-radius: 4px; }
code { font: 0.875rem/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
summary { cursor: pointer; }
`;

export const asHtml = (markdown: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${markdown.slice(2, markdown.indexOf('\n'))}</title>
<style>${style}</style>
</head>
<body>
${marked.parse(markdown, { async: false })}
</body>
</html>
`;
