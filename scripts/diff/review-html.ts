// The review as one HTML page, which loads nothing.
import type { Field } from './fields.ts';
import { summary } from './places.ts';
import type { Line } from './report.ts';
import type { ExampleChange, NewOperation, NewSchema, Review } from './review.ts';

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: 0.875rem/1.5 ui-monospace, monospace; }
code { overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid light-dark(#ccc, #555); border-radius: 4px; }
/* Sentences, not code. */
.todo pre { white-space: pre-wrap; }
li { margin: 0.4rem 0; }
small { color: light-dark(#555, #aaa); }
table { border-collapse: collapse; }
th, td { padding: 0.25rem 0.75rem; border-bottom: 1px solid light-dark(#ccc, #555); text-align: right; }
th:first-child, td:first-child { padding-left: 0; text-align: left; }
.fields th, .fields td { text-align: left; }
summary { cursor: pointer; }
ins, del { display: block; text-decoration: none; }
ins { background: light-dark(#dafbe1, #12361f); }
del { background: light-dark(#ffebe9, #4b1d1c); }
.breaking h2, .todo h2 { color: light-dark(#b3151f, #ff8a80); }
`;

export function asHtml(review: Review): string {
  const { base, baseVersion, version, total, groups, consumers, examples, operations, schemas, problems } =
    review;
  const title = `Contract ${baseVersion} → ${version}`;
  const parts = [
    `<h1>${escape(title)}</h1>`,
    `<p>${escape(total)}, compared with <code>${escape(base)}</code>.</p>`,
    ...(groups.length === 0 ? ['<p>Nothing has changed.</p>'] : []),
    ...(problems.length === 0 ? [] : [section('To do before this is merged', problems.map(todo), 'todo')]),
    ...groups.map(({ title: name, lines }) =>
      section(
        `${name} (${lines.length})`,
        [`<ul>\n${lines.map(item).join('\n')}\n</ul>`],
        name.toLowerCase(),
      ),
    ),
    ...(operations.length === 0
      ? []
      : [section('New operations', [`<ul>\n${operations.map(operation).join('\n')}\n</ul>`])]),
    ...(schemas.length === 0 ? [] : [section('New schemas', schemas.map(schema))]),
    ...(consumers.length === 0 ? [] : [section('Who is affected', [table(consumers)])]),
    ...(examples.length === 0 ? [] : [section('Examples, before and after', examples.map(example))]),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escape(title)}</title>
<style>${style}</style>
</head>
<body>
${parts.join('\n')}
</body>
</html>
`;
}

const section = (title: string, content: string[], kind = '') =>
  `<section class="${kind}">\n<h2>${escape(title)}</h2>\n${content.join('\n')}\n</section>`;

const todo = ({ message }: Review['problems'][number]) => `<pre>${escape(message)}</pre>`;

function item({ place, usedBy, what, why, where, field, accepted }: Line): string {
  const users = usedBy.length === 0 ? '' : ` (${escape(summary(usedBy))})`;
  const reason = why === undefined ? '' : `: ${spans(why)}`;
  const note = accepted
    ? `<br>${spans(accepted.reason)} Proved by <code>${escape(accepted.test)}</code>.`
    : '';
  return `<li><strong>${escape(place)}</strong>${users}: ${spans(what)}${reason}<br><small><code>${escape(where)}</code></small>${field ? `<br>${fieldText(field)}` : ''}${note}</li>`;
}

const fieldText = ({ type, required, description }: Field) =>
  `${escape(type)}, ${required ? 'required' : 'optional'}: ${spans(description)}`;

function operation({ place, summary: name, takes, hasBody, statuses, parts, ...one }: NewOperation): string {
  const code = (text: string) => `<code>${escape(text)}</code>`;
  const given = [...takes.map(code), ...(hasBody ? ['a body'] : [])].join(', ') || 'nothing';
  return `<li>${code(place)}: ${escape(name)}. Needs ${one.scopes.map(code).join(' or ')}; ${escape(one.accounts)}. Takes ${given}; answers ${escape(statuses.join(', '))}.${
    parts.length === 0 ? '' : ` New with it: ${escape(parts.join(', '))}.`
  }</li>`;
}

function schema({ name, description, values, fields }: NewSchema): string {
  const among = values.map((value) => `<code>${escape(value)}</code>`).join(', ');
  const text = `<p><code>${escape(name)}</code>: ${spans(description)}${among && ` One of ${among}.`}</p>`;
  if (fields.length === 0) return text;
  return `${text}
<table class="fields">
<thead><tr><th>Field</th><th>Type</th><th>Required</th><th>Description</th></tr></thead>
<tbody>
${fields.map((field) => `<tr><td><code>${escape(field.name)}</code></td><td>${escape(field.type)}</td><td>${field.required ? 'yes' : 'no'}</td><td>${spans(field.description)}</td></tr>`).join('\n')}
</tbody>
</table>`;
}

const table = (rows: Review['consumers']) => `<table>
<thead><tr><th>Consumers of</th><th>Breaking</th><th>Additions</th><th>Other</th></tr></thead>
<tbody>
${rows.map(({ place, breaking, additions, other }) => `<tr><td><code>${escape(place)}</code></td><td>${breaking}</td><td>${additions}</td><td>${other}</td></tr>`).join('\n')}
</tbody>
</table>`;

function example({ name, kind, usedBy, lines }: ExampleChange): string {
  const users = usedBy.length === 0 ? '' : `, in ${escape(summary(usedBy))}`;
  const rows = lines.map(({ mark, text }) => {
    const line = escape(`${mark} ${text}`);
    if (mark === ' ') return `${line}\n`;
    return mark === '+' ? `<ins>${line}</ins>` : `<del>${line}</del>`;
  });
  const open = kind === 'changed' ? ' open' : '';
  return `<details${open}><summary>${escape(name)} (${kind}${users})</summary>\n<pre>${rows.join('')}</pre>\n</details>`;
}

/** With its code spans. */
const spans = (text: string) =>
  text
    .split(/`([^`\n]+)`/)
    .map((part, index) => (index % 2 === 1 ? `<code>${escape(part)}</code>` : escape(part)))
    .join('');

const escape = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
