// The first page of the docs.
import type { Contract } from './contract.ts';
import type { Guide } from './guides.ts';
import { escape } from './markdown.ts';

/** What most readers come for. The menu has the rest. */
const first: [slug: string, text: string][] = [
  ['getting-started', 'The first call, and what all calls have in common'],
  ['authentication', 'Sign a token; scopes and roles'],
  ['pages', 'Cursors, limits, and filters by date'],
  ['errors', 'Every status and code, and what to do about it'],
  ['idempotency', 'Repeat a write without doing it twice'],
  ['rate-limits', 'Which calls are limited, and how to wait'],
  ['webhooks', 'Events, retries, checking a signature'],
  ['receive-events', 'Your first event within a minute'],
  ['sandbox', 'Card numbers and PINs that choose the outcome'],
  ['client', 'The mock, the typed client, a page with React'],
  ['going-live', 'What to change, and what to check'],
];

export function overview(opening: string, contract: Contract, guides: Guide[]): string {
  const cards = first.flatMap(([slug, text]) =>
    guides
      .filter((guide) => guide.slug === slug)
      .map(({ label }) => card(`guides/${slug}.html`, label, text)),
  );
  return `<article class="guide">
<h1>${escape(contract.info.title)}</h1>
${opening}
<ul class="cards">
${cards.join('\n')}
</ul>
<h2 id="reference">Reference</h2>
<p>Every operation and event, with its parameters, answers and examples: see <a href="reference.html">the API reference</a>.</p>
<h2 id="for-programs">For programs</h2>
<ul>
<li>The contract, OpenAPI 3.1, version ${escape(contract.info.version)}: <a href="openapi.yaml">openapi.yaml</a>, <a href="openapi.json">openapi.json</a></li>
<li>Workflows in Arazzo (store a first card, page through transactions, receive an event): <a href="workflows/payments.arazzo.yaml">payments.arazzo.yaml</a></li>
<li>Every guide is also Markdown: replace <code>.html</code> by <code>.md</code>. <a href="llms.txt">llms.txt</a> lists them.</li>
</ul>
</article>`;
}

const card = (href: string, label: string, text: string) =>
  `<li><a href="${href}"><strong>${escape(label)}</strong><span>${escape(text)}</span></a></li>`;
