// The first page of the docs: three steps to a first call, and where to go from there.
import type { Contract } from './contract.ts';
import type { Guide } from './guides.ts';
import { codeBlock, escape } from './markdown.ts';

const next = ['authentication', 'errors', 'webhooks', 'pages', 'sandbox', 'client', 'going-live'];

const firstCall = `curl -H "Authorization: Bearer $TOKEN" 'http://127.0.0.1:8080/transactions?limit=3'`;
const firstCard = `curl -X POST 'http://127.0.0.1:8080/payment-methods' \\
  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d '{"method": "card", "number": "4111111111111111", "expiration_date": "12/39"}'`;

export function overview(opening: string, contract: Contract, guides: Guide[]): string {
  const doors = guides
    .filter(({ slug }) => next.includes(slug))
    .map(({ slug, label, about }) => card(`guides/${slug}.html`, label, about));
  return `<article class="guide">
<h1>${escape(contract.info.title)}</h1>
${opening}
<h2 id="first-call">Three steps to a first call</h2>
<ol>
<li><strong>Get a token.</strong> <span class="here">Open the <a href="../console/">console</a>, which has one, and choose <b>Copy export TOKEN=…</b></span><span class="elsewhere">Open the console of a sandbox, such as <a href="http://127.0.0.1:8080/console/">http://127.0.0.1:8080/console/</a>, which has one, and choose <b>Copy export TOKEN=…</b></span> How your own server signs tokens: <a href="guides/authentication.html">Authentication</a>.</li>
<li><strong>Call the API.</strong> Paste the command that was copied into a terminal, then:
${codeBlock(firstCall, 'sh')}</li>
<li><strong>Store a card</strong> with a <a href="guides/sandbox.html">test number</a>, and <a href="guides/receive-events.html">receive the event</a> that follows:
${codeBlock(firstCard, 'sh')}</li>
</ol>
<h2 id="next">Next</h2>
<ul class="cards">
${doors.join('\n')}
</ul>
<p>Every operation and event, with its parameters, answers and examples: see <a href="reference.html">the API reference</a>.</p>
<h2 id="for-programs">For programs</h2>
<ul>
<li>The contract, OpenAPI 3.1, version ${escape(contract.info.version)}: <a href="openapi.yaml">openapi.yaml</a>, <a href="openapi.json">openapi.json</a>. Postman and Insomnia import either.</li>
<li>Workflows in Arazzo (store a first card, page through transactions, receive an event): <a href="workflows/payments.arazzo.yaml">payments.arazzo.yaml</a></li>
<li>Every guide is also Markdown: replace <code>.html</code> by <code>.md</code>. <a href="llms.txt">llms.txt</a> lists them, <a href="llms-full.txt">llms-full.txt</a> has them all.</li>
</ul>
</article>`;
}

const card = (href: string, label: string, text: string) =>
  `<li><a href="${href}"><strong>${escape(label)}</strong><span>${escape(text)}</span></a></li>`;
