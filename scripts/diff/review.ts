// What a reviewer of a pull request reads: the report, and the text before and after. Markdown for a comment; the same as a page
// that loads nothing. Everything that the contract says is in code blocks, so that names and values of a stranger's pull request
// are neither HTML nor mentions.
import { marked } from 'marked';
import type { Json } from './change.ts';
import { asText, type Outcome } from './report.ts';
import { textChanges } from './texts.ts';

export async function asMarkdown(outcome: Outcome, before: Json, after: Json): Promise<string> {
  const texts = await textChanges(before, after);
  return [
    `# Contract ${escape(outcome.baseVersion)} → ${escape(outcome.version)}`,
    fenced(asText(outcome, false), 'text'),
    ...(texts.length === 0 ? [] : ['## Before and after']),
    // Folded, because texts are long. GitHub needs the empty lines.
    ...texts.map(
      ({ place, diff }) =>
        `<details><summary>${escape(place)}</summary>\n\n${fenced(diff, 'diff')}\n\n</details>`,
    ),
  ].join('\n\n');
}

/** With more backticks around it than there are in it. */
function fenced(text: string, language: string): string {
  const around = '`'.repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map(({ length }) => length + 1)));
  return `${around}${language}\n${text}\n${around}`;
}

const escape = (text: string) => text.replaceAll(/[^\w\s/.{}-]/g, (letter) => `&#${letter.charCodeAt(0)};`);

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
