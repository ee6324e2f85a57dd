// Renders the Markdown of a guide: headings with anchors, highlighted code with a button that copies it, the same code in several
// languages as tabs, and links of the repository as links of the site.
import { createRequire } from 'node:module';
import GithubSlugger, { slug } from 'github-slugger';
import { Marked, type Token, type Tokens } from 'marked';

// Required, because its types bring those of browsers into the whole project.
const highlight = createRequire(import.meta.url)('highlight.js') as {
  getLanguage: (name: string) => { name?: string } | undefined;
  highlight: (code: string, options: { language: string }) => { value: string };
};

export interface Section {
  /** Empty for the text before the first heading. */
  id: string;
  heading: string;
  text: string;
  /** Of its heading; rows of a table have none. */
  level?: number;
}

export interface Rendered {
  title: string;
  html: string;
  sections: Section[];
}

export const escape = (text: string) =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** What readers call a language, where the highlighter has another name for it. */
const labels: Record<string, string> = {
  sh: 'Terminal',
  js: 'Node.js',
  php: 'PHP',
  csharp: 'C#',
  ini: '',
  text: '',
};
const labelOf = (language: string) => labels[language] ?? highlight.getLanguage(language)?.name ?? '';

const highlighted = (code: string, language: string) =>
  highlight.getLanguage(language) ? highlight.highlight(code, { language }).value : escape(code);

/** `isFolded`: fields of fields, and statuses of errors, are behind a click. browser/site.ts opens what a link leads to. */
export function render(markdown: string, link: (href: string) => string, isFolded = false): Rendered {
  // As on GitHub, so that links work there too.
  const ids = new GithubSlugger();
  const places = new Map<Token, string>();
  /** The only field of a list that has fields is what the list is about, and open. */
  const alone = new Set<Token>();
  const marked = new Marked({
    renderer: {
      heading(heading) {
        const { tokens, text, depth } = heading;
        const id = ids.slug(plain(text));
        const shown = this.parser.parseInline(tokens);
        // The title has no link of its own: the address of the page is its address.
        if (depth === 1) return `<h1 id="${id}">${shown}</h1>\n`;
        const name = `Link to ${escape(plain(text))}`;
        const anchor = ` <a class="anchor" href="#${id}" aria-label="${name}">#</a>`;
        // What is clicked to unfold holds no link. The contents of the page have one.
        const isSummary = isFolded && isErrorStatus(heading);
        return `<h${depth} id="${id}">${shown}${isSummary ? '' : anchor}</h${depth}>\n`;
      },
      // The texts are ours, but a page must not change because someone wrote <T> in one.
      html: ({ text }) => escape(text),
      link({ href, tokens }) {
        return `<a href="${escape(link(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      code: (block) => codeBlock([block]),
      listitem(item) {
        const id = places.get(item);
        const lists = isFolded && id ? item.tokens.filter(isList) : [];
        const text = this.parser.parse(item.tokens.filter((token) => !lists.includes(token as Tokens.List)));
        const folds = lists.map((list) =>
          folded(summaryOf(list), this.parser.parse([list]), alone.has(item)),
        );
        return `<li${id ? ` id="${id}"` : ''}>${text}${folds.join('')}</li>\n`;
      },
      // Links and the search lead to the row of a status.
      tablerow: ({ text }) => `<tr>${text}</tr>\n`.replace(/<tr>\n?<td>(\d{3})</, '<tr id="$1"><td>$1<'),
      table(token) {
        // On a phone each cell is a line of its own, and names its column: see style.css.
        const headings = token.header.map(({ text }) => escape(plain(text)));
        const cells = (row: Tokens.TableCell[], tag: string) =>
          row.map(({ tokens }, at) => {
            const heading = tag === 'td' && at > 0 && headings[at] ? ` data-heading="${headings[at]}"` : '';
            return `<${tag}${heading}>${this.parser.parseInline(tokens)}</${tag}>\n`;
          });
        const line = (row: Tokens.TableCell[], tag = 'td') =>
          this.tablerow({ text: cells(row, tag).join('') });
        return `<table>\n<thead>\n${line(token.header, 'th')}</thead>\n<tbody>${token.rows.map((row) => line(row)).join('')}</tbody></table>\n`;
      },
    },
    extensions: [
      { name: 'tabs', renderer: ({ codes }) => codeBlock(codes as Tokens.Code[]) },
      {
        name: 'fold',
        renderer({ tokens: [heading, ...others] = [] }) {
          return folded(this.parser.parse(heading ? [heading] : []), this.parser.parse(others));
        },
      },
    ],
  });
  const tokens = marked.lexer(markdown);
  const sections = sectionsOf(tokens);
  nameItems(tokens, '', places);
  for (const { items } of tokens.filter(isList)) {
    const [only, another] = items.filter(({ tokens: inner }) => inner.some(isList));
    if (only && !another) alone.add(only);
  }
  const grouped = withTabs(tokens);
  const html = marked
    .parser(isFolded ? withFolds(grouped) : grouped)
    .replace('</h1>\n', (end) => `${end}${contents(sections)}`);
  return { title: sections.find(({ heading }) => heading)?.heading ?? '', html, sections };
}

/** A list of sections and their parts. A guide with less than three needs none. */
function contents(sections: Section[]): string {
  const items = sections
    .filter(({ level }) => level === 2 || level === 3)
    .map(
      ({ id, heading, level }) => `<li class="level-${level}"><a href="#${id}">${escape(heading)}</a></li>`,
    );
  if (items.length < 3) return '';
  return `<nav class="on-this-page" aria-label="On this page"><div><p>On this page</p><ul>${items.join('')}</ul></div></nav>\n`;
}

/** Of several languages the first is shown until the reader chooses: see browser/site.ts. */
function codeBlock(codes: { text: string; lang?: string | undefined }[]): string {
  const parts = codes.map(({ text, lang = '' }) => ({ text, language: lang.split(/\s/)[0] ?? '' }));
  const names = parts.map(({ language }, at) =>
    parts.length === 1
      ? labelOf(language)
      : `<button type="button" data-language="${language}" aria-pressed="${at === 0}">${labelOf(language)}</button>`,
  );
  // `tabindex`: a block that is wider than the page can be scrolled with the keyboard.
  const blocks = parts.map(
    ({ text, language }, at) =>
      `<pre tabindex="0" data-language="${language}"${at === 0 ? '' : ' hidden'}><code>${highlighted(text, language)}</code></pre>`,
  );
  return `<div class="code"><div class="code-head">${names.join('')}<button type="button" class="copy">Copy</button></div>${blocks.join('')}</div>\n`;
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

const folded = (summary: string, content: string, isOpen = false) =>
  `<details class="fold"${isOpen ? ' open' : ''}><summary>${summary}</summary>\n${content}</details>\n`;

function summaryOf({ items }: Tokens.List): string {
  const names = items
    .map(({ text }) => /^(?:`([^`]+)`|\*\*(.+?)\*\*)/.exec(text))
    .map((name) => name?.[1] ?? name?.[2]);
  const what = items[0]?.text.startsWith('**') ? 'kind' : 'field';
  return `${names.length} ${what}${names.length === 1 ? '' : 's'}: ${escape(names.join(', '))}`;
}

/** The status of an error, with all below its heading. */
function withFolds(tokens: Token[]): Token[] {
  const parts: Token[][] = [];
  for (const token of tokens) {
    const [first] = parts.at(-1) ?? [];
    if (first && isErrorStatus(first) && !isHeading(token)) parts.at(-1)?.push(token);
    else parts.push([token]);
  }
  return parts.flatMap((part) =>
    part[0] && isErrorStatus(part[0])
      ? [{ type: 'fold', raw: '', tokens: part } satisfies Tokens.Generic]
      : part,
  );
}

/** Each heading with the text below it, and each row of a table of statuses, as the search finds them. */
function sectionsOf(tokens: Token[]): Section[] {
  const ids = new GithubSlugger();
  const sections: Section[] = [{ id: '', heading: '', text: '' }];
  const statuses: Section[] = [];
  for (const token of tokens) {
    const last = sections.at(-1);
    const heading = isHeading(token) ? plain(token.text) : '';
    if (isHeading(token)) sections.push({ id: ids.slug(heading), heading, text: '', level: token.depth });
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

/** Items that begin with a name, such as those of fields, so that the search leads to them: `body.buyer.id`. */
function nameItems(tokens: Token[], parent: string, places: Map<Token, string>): void {
  let prefix = parent;
  for (const token of tokens) {
    if (isHeading(token)) prefix = slug(plain(token.text));
    if (token.type !== 'list') continue;
    for (const item of (token as Tokens.List).items) {
      const [, name] = /^`([\w-]+)`/.exec(item.text) ?? [];
      const id = name ? itemId(prefix, name) : prefix;
      if (name && ![...places.values()].includes(id)) places.set(item, id);
      nameItems(item.tokens, id, places);
    }
  }
}

export const itemId = (parent: string, name: string): string => [parent, name].filter(Boolean).join('.');

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading';
const isErrorStatus = (token: Token) =>
  isHeading(token) && token.depth === 3 && /^[45]\d\d\b/.test(token.text);
const isList = (token: Token): token is Tokens.List => token.type === 'list';
const isTable = (token: Token): token is Tokens.Table => token.type === 'table';
const isStatus = (text: string) => /^\d{3}$/.test(text);

/** Markdown without its signs. */
export const plain = (markdown: string): string =>
  markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^[|> -]+$|^```.*$/gm, '')
    .replaceAll(/[`*]|^#+ |^ *[|>-] *| *\|$/gm, '')
    .replaceAll(' | ', ' · ')
    .replaceAll(/\s+/g, ' ')
    .trim();
