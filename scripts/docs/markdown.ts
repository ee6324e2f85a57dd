// Renders the Markdown of a guide: headings with anchors, highlighted code with a button that copies it, tables that a phone
// shows row by row, and links of the repository as links of the site.
import { createRequire } from 'node:module';
import { Marked, type Tokens } from 'marked';

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

const languages: Record<string, string> = {
  sh: 'bash',
  ts: 'typescript',
  tsx: 'typescript',
  js: 'javascript',
};

export function highlighted(code: string, language = ''): string {
  const name = languages[language] ?? language;
  return highlight.getLanguage(name) ? highlight.highlight(code, { language: name }).value : escape(code);
}

export function render(markdown: string, link: (href: string) => string): Rendered {
  const used = new Map<string, number>();
  const marked = new Marked({
    renderer: {
      heading(text, level, raw) {
        const slug = slugOf(plain(raw));
        const times = used.get(slug) ?? 0;
        used.set(slug, times + 1);
        const id = times === 0 ? slug : `${slug}-${times}`;
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
      image: (href, _title, text) => `<img src="${escape(link(href))}" alt="${escape(text)}">`,
      code: (code, language) => codeBlock(code, language?.split(/\s/)[0]),
    },
    extensions: [
      {
        name: 'table',
        renderer(token) {
          const { header, rows } = token as Tokens.Table;
          const inline = (cell: Tokens.TableCell) => this.parser.parseInline(cell.tokens);
          const names = header.map((cell) => plain(inline(cell)));
          const head = header.map((cell) => `<th scope="col">${inline(cell)}</th>`).join('');
          const body = rows.map((row) => {
            // A phone shows each cell on a line of its own, after the name of its column.
            const cells = row.map(
              (cell, at) => `<td data-label="${names[at] ?? ''}"><span>${inline(cell)}</span></td>`,
            );
            // Links and the search lead to the row of a status.
            const status = /^\d{3}$/.exec(row[0]?.text ?? '')?.[0];
            return `<tr${status ? ` id="${status}"` : ''}>${cells.join('')}</tr>`;
          });
          return `<table><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table>\n`;
        },
      },
    ],
  });
  const html = marked.parse(markdown) as string;
  const sections = [...split(html), ...statuses(html)];
  return { title: sections.find(({ heading }) => heading)?.heading ?? '', html, sections };
}

/** From this many sections on, a reader needs a list of them. */
const manySections = 3;

/** With a list of its sections below its title, if it is long. */
export function withContents(html: string): string {
  const items = [...html.matchAll(/<h2 id="([^"]*)">([\s\S]*?) <a class="anchor"/g)].map(
    ([, id, heading]) => `<li><a href="#${id}">${heading?.replaceAll(/<\/?a\b[^>]*>/g, '')}</a></li>`,
  );
  if (items.length < manySections) return html;
  const list = `<nav class="contents" aria-label="On this page"><p>On this page</p><ul>${items.join('')}</ul></nav>`;
  return html.replace('</h1>\n', (end) => `${end}${list}\n`);
}

/** `tabindex`: a block that is wider than the page can be scrolled with the keyboard. */
export const codeBlock = (code: string, language?: string) =>
  `<div class="code"><pre tabindex="0"><code>${highlighted(code, language)}</code></pre></div>\n`;

const plain = (html: string) => html.replaceAll(/<[^>]+>/g, '').trim();

const sectionPattern = /^<h\d id="([^"]*)">([\s\S]*?)<\/h\d>([\s\S]*)$/;

const split = (html: string): Section[] =>
  html
    .split(/(?=<h[1-4] id=")/)
    .map((part) => {
      const [, id = '', heading = '', rest = part] = sectionPattern.exec(part) ?? [];
      return { id, heading: readable(heading.replace(/<a class="anchor"[\s\S]*/, '')), text: readable(rest) };
    })
    .filter(({ heading, text }) => heading || text);

/** The rows of the table of errors. */
const statuses = (html: string): Section[] =>
  [...html.matchAll(/<tr id="(\d+)">(.*?<\/td>.*?<\/td>)(.*?)<\/tr>/g)].map(
    ([, id = '', heading = '', text = '']) => ({ id, heading: readable(heading), text: readable(text) }),
  );

const readable = (html: string) =>
  html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/&#(x?[\da-f]+);/gi, (_, code: string) =>
      String.fromCodePoint(Number(code.replace(/^x/i, '0x'))),
    )
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();
