// Renders the Markdown of a guide: headings with anchors, highlighted code with a button that copies it, the same code in several
// languages as tabs, tables that a phone shows row by row, and links of the repository as links of the site.
import { createRequire } from 'node:module';
import { Marked, type Token, type Tokens } from 'marked';

// Required, because its types bring those of browsers into the whole project.
const highlight = createRequire(import.meta.url)('highlight.js') as {
  getLanguage: (name: string) => unknown;
  highlight: (code: string, options: { language: string }) => { value: string };
};

export interface Section {
  /** Empty for the text before the first heading. */
  id: string;
  heading: string;
  text: string;
}

export interface Rendered {
  title: string;
  html: string;
  sections: Section[];
}

/** The same as GitHub's, so that links work there too. */
export const slugOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

export const escape = (text: string) =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Languages as readers call them, and as the highlighter does if that is another name. */
const languages: Record<string, { label: string; name?: string }> = {
  sh: { label: 'Terminal', name: 'bash' },
  ts: { label: 'TypeScript', name: 'typescript' },
  tsx: { label: 'TypeScript', name: 'typescript' },
  js: { label: 'Node.js', name: 'javascript' },
  python: { label: 'Python' },
  php: { label: 'PHP' },
  go: { label: 'Go' },
  java: { label: 'Java' },
  csharp: { label: 'C#' },
  json: { label: 'JSON' },
  yaml: { label: 'YAML' },
  sql: { label: 'SQL' },
};

function highlighted(code: string, language: string): string {
  const name = languages[language]?.name ?? language;
  return highlight.getLanguage(name) ? highlight.highlight(code, { language: name }).value : escape(code);
}

export function render(markdown: string, link: (href: string) => string): Rendered {
  const idOf = createIds();
  const marked = new Marked({
    renderer: {
      heading(text, level, raw) {
        const id = idOf(raw);
        // The title has no link of its own: the address of the page is its address.
        if (level === 1) return `<h1 id="${id}">${text}</h1>\n`;
        const name = `Link to ${escape(plain(raw))}`;
        return `<h${level} id="${id}">${text} <a class="anchor" href="#${id}" aria-label="${name}">#</a></h${level}>\n`;
      },
      // The texts are ours, but a page must not change because someone wrote <T> in one.
      html: escape,
      link(href, title, text) {
        const to = link(href);
        const outside = /^https?:/.test(to) ? ' rel="noreferrer"' : '';
        return `<a href="${escape(to)}"${title ? ` title="${escape(title)}"` : ''}${outside}>${text}</a>`;
      },
      code: (code, language) => codeBlock(code, language),
    },
    extensions: [
      { name: 'tabs', renderer: ({ codes }) => tabs(codes as Tokens.Code[]) },
      {
        name: 'table',
        renderer(token) {
          const { header, rows } = token as Tokens.Table;
          const inline = (cell: Tokens.TableCell) => this.parser.parseInline(cell.tokens);
          const names = header.map((cell) => escape(plain(cell.text)));
          const head = header.map((cell) => `<th scope="col">${inline(cell)}</th>`).join('');
          const body = rows.map((row) => {
            // A phone shows each cell on a line of its own, after the name of its column.
            const cells = row.map(
              (cell, at) => `<td data-label="${names[at] ?? ''}"><span>${inline(cell)}</span></td>`,
            );
            // Links and the search lead to the row of a status.
            const status = row[0]?.text ?? '';
            return `<tr${isStatus(status) ? ` id="${status}"` : ''}>${cells.join('')}</tr>`;
          });
          return `<table><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table>\n`;
        },
      },
    ],
  });
  const tokens = marked.lexer(markdown);
  const html = marked.parser(withTabs(tokens));
  const sections = sectionsOf(tokens, createIds());
  return { title: sections.find(({ heading }) => heading)?.heading ?? '', html, sections };
}

/** From this many sections on, a reader needs a list of them. */
const manySections = 3;

/** With a list of its sections and their parts after its title, if it is long. */
export function withContents(html: string): string {
  const items = [...html.matchAll(/<h([23]) id="([^"]*)">([\s\S]*?) <a class="anchor"/g)].map(
    ([, level, id, heading]) =>
      `<li${level === '3' ? ' class="sub"' : ''}><a href="#${id}">${heading?.replaceAll(/<\/?(a|code)\b[^>]*>/g, '')}</a></li>`,
  );
  if (items.length < manySections) return html;
  const list = `<nav class="on-this-page" aria-label="On this page"><div><p>On this page</p><ul>${items.join('')}</ul></div></nav>`;
  return html.replace('</h1>\n', (end) => `${end}${list}\n`);
}

const languageOf = (info = '') => info.split(/\s/)[0] ?? '';
const labelOf = (language: string) => languages[language]?.label ?? '';

export const codeBlock = (code: string, info?: string) =>
  framed(labelOf(languageOf(info)), pre(code, languageOf(info)));

const framed = (head: string, code: string) =>
  `<div class="code"><div class="code-head">${head}<button type="button" class="copy">Copy</button></div>${code}</div>\n`;

/** `tabindex`: a block that is wider than the page can be scrolled with the keyboard. */
const pre = (code: string, language: string, attributes = '') =>
  `<pre tabindex="0"${attributes}><code>${highlighted(code, language)}</code></pre>`;

/** The first is shown until the reader chooses: see browser/site.ts. */
function tabs(codes: Tokens.Code[]): string {
  const parts = codes.map(({ text, lang }) => ({ text, language: languageOf(lang) }));
  const buttons = parts.map(
    ({ language }, at) =>
      `<button type="button" data-language="${language}" aria-pressed="${at === 0}">${labelOf(language)}</button>`,
  );
  const blocks = parts.map(({ text, language }, at) =>
    pre(text, language, ` data-language="${language}"${at === 0 ? '' : ' hidden'}`),
  );
  return framed(buttons.join(''), blocks.join(''));
}

/** Blocks of code in different languages with nothing between them become tabs. */
function withTabs(tokens: Token[]): Token[] {
  const isCode = (token: Token): token is Tokens.Code => token.type === 'code';
  const groups: Token[][] = [];
  for (const token of tokens) {
    const last = groups.at(-1) ?? [];
    const codes = last.filter(isCode);
    const goesOn =
      codes.length > 0 &&
      (token.type === 'space' || (isCode(token) && codes.every(({ lang }) => lang !== token.lang)));
    if (goesOn) last.push(token);
    else groups.push([token]);
  }
  return groups.flatMap((group) => {
    const codes = group.filter(isCode);
    return codes.length > 1 ? [{ type: 'tabs', raw: '', codes } satisfies Tokens.Generic] : group;
  });
}

/** Each heading with the text below it, and each row of a table of statuses, as the search finds them. */
function sectionsOf(tokens: Token[], idOf: (heading: string) => string): Section[] {
  const sections: Section[] = [{ id: '', heading: '', text: '' }];
  const statuses: Section[] = [];
  for (const token of tokens) {
    const last = sections.at(-1);
    if (isHeading(token)) sections.push({ id: idOf(token.text), heading: plain(token.text), text: '' });
    else if (last) last.text += ` ${plain(token.raw)}`;
    if (isTable(token))
      for (const [first, second, ...others] of token.rows)
        if (first && second && isStatus(first.text))
          statuses.push({
            id: first.text,
            heading: `${first.text} ${plain(second.text)}`,
            text: plain(others.map(({ text }) => text).join(' ')),
          });
  }
  return [...sections.filter(({ heading, text }) => heading || text.trim()), ...statuses];
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading';
const isTable = (token: Token): token is Tokens.Table => token.type === 'table';
const isStatus = (text: string) => /^\d{3}$/.test(text);

/** Markdown without its signs. */
export const plain = (markdown: string): string =>
  markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^[|> -]+$|^```.*$/gm, '')
    .replaceAll(/[`*#]|^ *[|>-] *| *\|$/gm, '')
    .replaceAll(' | ', ' · ')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** IDs of headings as GitHub makes them. One that occurs again has a number. */
function createIds(): (heading: string) => string {
  const used = new Map<string, number>();
  return (heading) => {
    const slug = slugOf(plain(heading));
    const times = used.get(slug) ?? 0;
    used.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  };
}
