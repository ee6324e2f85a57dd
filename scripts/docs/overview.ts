// The first page of the docs.
import type { Contract } from './contract.ts';
import type { Guide } from './guides.ts';
import { escape } from './markdown.ts';

export function overview(opening: string, contract: Contract, guides: Guide[]): string {
  // What those who integrate come for. The menu has the rest.
  const cards = guides
    .filter(({ group }) => group === 'Guides' || group === 'Build')
    .map(({ slug, label, about }) => card(`guides/${slug}.html`, label, about));
  return `<article class="guide">
<h1>${escape(contract.info.title)}</h1>
${opening}
<p class="elsewhere">The samples call a sandbox at <code>http://127.0.0.1:8080</code>, which must be running: start one with <code>npm start</code>, in the folder of the service.</p>
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
