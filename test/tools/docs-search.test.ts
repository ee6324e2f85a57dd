// Asks the search of the docs what integrators ask, and expects the guide that answers it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSearch, excerpt } from '../../scripts/docs/browser/search.ts';
import { forReaders, parseContract } from '../../scripts/docs/contract.ts';
import { readGuides } from '../../scripts/docs/guides.ts';
import { createLinks } from '../../scripts/docs/links.ts';
import { render } from '../../scripts/docs/markdown.ts';
import { guideEntries, referenceEntries } from '../../scripts/docs/search-entries.ts';
import { root } from '../../scripts/support/root.ts';

const contract = parseContract(readFileSync(join(root, 'generated/openapi.json'), 'utf8'));
const guides = readGuides(contract);
const links = createLinks({ contract, guides: readGuides(contract), asset: () => '' });
const pages = guides.map((guide) => ({ guide, ...render(guide.markdown, links(guide.file, '../')) }));
const search = createSearch([...guideEntries(pages), ...referenceEntries(contract)]);
const hrefs = (query: string) => search(query).map(({ href }) => href);

describe('the search of the docs', () => {
  const lacking = 'guides/getting-started.html#what-this-api-does-not-have';

  it.each([
    ['event types', 'guides/webhooks.html#events'],
    ['new fields', 'guides/versioning.html'],
    ['first request', 'guides/getting-started.html'],
    ['error format', 'guides/errors.html#the-shape-of-an-error'],
    ['rotate key', 'guides/going-live.html#your-key-pair'],
    ['pci', 'guides/card-data.html'],
    ['idempotency', 'guides/idempotency.html'],
    ['pagination', 'guides/pages.html'],
    ['refund', lacking, 'refund a payment'],
    ...['refund time', 'refunded_at', 'when was a transaction refunded', 'date of a refund'].map((query) => [
      query,
      lacking,
      'has_refunds=true with updated_at_gte comes nearest',
    ]),
    ['replace my key pair', 'guides/going-live.html#your-key-pair', 'ask for a second pair'],
    ['Pages', 'guides/pages.html', 'next_cursor'],
    ['scopes', 'guides/authentication.html#scopes'],
    ['time zone', 'guides/amounts-times-and-null.html#times'],
    ['webhook retry', 'guides/webhooks.html#retries'],
    ['3ds', lacking, '3-D Secure (3DS) · Nothing'],
    ['request id', 'guides/errors.html#x-request-id'],
    ['cors', 'guides/browsers-and-cors.html'],
    ['test cards', 'guides/sandbox.html'],
    ['decline', 'guides/sandbox.html'],
    ['expired card', 'guides/sandbox.html'],
    ['duplicate', 'guides/errors.html#409'],
    ['rate limit', 'guides/rate-limits.html'],
    ['csv export', lacking, 'CSV, or reports · Nothing'],
    ['transformIgnorePatterns', 'guides/client.html#typed-client'],
    ['commonjs', 'guides/client.html#typed-client'],
    ['c#', 'guides/languages.html', 'in C#, and in others that are not here, there is nothing ready'],
  ])('answers "%s" with %s first, which says it if there is nothing', (query, first, says = '') => {
    const [found] = search(query);
    expect(found?.href).toBe(first);
    expect(found?.mark).toBeUndefined();
    expect(found?.text).toContain(says);
  });

  it('names operators and contributors after those who call the API, and says so', () => {
    for (const query of ['card', 'webhook', 'key', 'retention', 'migration']) {
      const marks = search(query).map(({ mark }) => Boolean(mark));
      expect(marks, query).toEqual(marks.toSorted());
    }
    expect(hrefs('import transactions')).toContain('guides/operator.html#import');
    const markOf = (query: string) => search(query)[0]?.mark;
    expect(markOf('rotate card key')).toBe('For operators');
    expect(markOf('breakpoint in a handler')).toBe('For contributors');
  });

  it('adds pages with one of the words only if no page for those who call the API has all of them', () => {
    expect(hrefs('csv export')).toEqual([lacking]);
    expect(hrefs('restore a backup on tuesday').length).toBeGreaterThan(3);
  });

  it('looks for a word as it is written before it looks for others like it', () => {
    expect(search('restore')[0]?.mark).toBe('For operators');
  });

  it.each([
    ['cursor', 'guides/pages.html'],
    ['loop all pages', 'guides/pages.html#loop-over-all-pages'],
    ['filter by date', 'guides/pages.html#filters'],
    ['401', 'guides/errors.html#401-and-403'],
    ['504', 'guides/errors.html#504'],
    ['duplicate_record', 'guides/errors.html#409'],
    ['error codes', 'guides/errors.html'],
    ['minor units', 'guides/amounts-times-and-null.html'],
    ['token', 'guides/authentication.html'],
    ['retry', 'guides/idempotency.html'],
    ['webhook retries', 'guides/webhooks.html#retries'],
    ['Retry-After', 'guides/rate-limits.html'],
    ['api version', 'guides/versioning.html'],
    ['production', 'guides/going-live.html'],
    ['curl', 'guides/getting-started.html'],
    ['transactions of one buyer', 'guides/pages.html#filters'],
    ['when is a webhook retried', 'guides/webhooks.html#retries'],
    ['which scope', 'guides/authentication.html#scopes'],
    ['what does 409 mean', 'guides/errors.html#409'],
    ['null', 'guides/amounts-times-and-null.html'],
    ['login', 'guides/authentication.html'],
    ['tokne', 'guides/authentication.html'],
    ['Store a card', 'reference/create-payment-method.html'],
    ...['cvv', 'cvc', 'security code'].map((query) => [
      query,
      'reference/create-payment-method.html#body.security_code',
    ]),
    ['base url', 'guides/going-live.html#what-changes'],
    ['production key', 'guides/going-live.html#your-key-pair'],
    ['simulate', 'guides/sandbox.html'],
    ['openapi', 'guides/getting-started.html'],
    ['which test card is declined', 'guides/sandbox.html'],
    ['verify a webhook in PHP', 'guides/languages.html#checking-a-signature'],
    ['what are the limits', 'guides/rate-limits.html'],
    ['postman', 'guides/getting-started.html'],
    ['rotate webhook secret', 'guides/webhooks.html#rotating-a-secret'],
    ['page backwards', 'guides/pages.html#page-backwards'],
    ['zero-decimal currencies', 'guides/amounts-times-and-null.html'],
    ['date format', 'guides/amounts-times-and-null.html#times'],
    ['idempotency key expires', 'guides/idempotency.html'],
    ['call from browser', 'guides/browsers-and-cors.html'],
    ['webhook IP addresses', 'guides/webhooks.html'],
    ['when may the API change', 'guides/versioning.html'],
  ])('answers "%s" with %s first', (query, first) => {
    expect(hrefs(query)[0]).toBe(first);
  });

  // Only a new operation may come before it.
  it.each([
    ...['cancel', 'refund', 'delete', 'delete a card'],
    ...['get transaction by id', 'charge a card', 'retrieve a card'],
  ])('says for "%s" that this API does not have it, first of all guides', (query) => {
    const guide = hrefs(query).find((href) => href.startsWith('guides/'));
    expect(guide).toBe('guides/getting-started.html#what-this-api-does-not-have');
  });

  it.each([
    ['how do I retry safely', 'guides/idempotency.html'],
    ['page through all transactions of last week', 'guides/pages.html'],
    ['409 conflict', 'guides/errors.html'],
    ['invalid token', 'guides/errors.html#401-and-403'],
    ['insufficient scope', 'guides/errors.html#401-and-403'],
    ['how long is a token valid', 'guides/authentication.html#claims'],
    ['generate a token', 'guides/authentication.html#signing-a-token'],
    ['sandbox values', 'guides/sandbox.html'],
    ['request id', 'guides/errors.html#x-request-id'],
    ['create a transaction', 'guides/getting-started.html#what-this-api-does-not-have'],
    ['how do I restore a backup quickly', 'guides/operator.html'],
    ['rotate card key', 'guides/keys.html'],
    ['gdpr delete customer', 'guides/personal-data.html'],
    ['breakpoint in a handler', 'guides/backend-engineer.html#working'],
    ['database is down', 'guides/operating.html#troubleshooting'],
    ['reverse proxy TLS', 'guides/operator.html#install-on-a-server'],
    ['resume an import', 'guides/operator.html#import'],
    ['send an event from a handler', 'guides/backend-engineer.html#an-event'],
    ['where does SQL go', 'guides/backend-engineer.html#where-code-belongs'],
    ['statuses of a transaction', 'reference/list-transactions.html#200.items.status'],
  ])('answers "%s" with %s among the first three', (query, wanted) => {
    expect(hrefs(query).slice(0, 3)).toContainEqual(expect.stringContaining(wanted));
  });

  it.each([
    ['X-Request-ID', 'guides/errors.html#x-request-id'],
    ['Idempotency-Key', 'reference/create-payment-method.html#headers.'],
    ['external_identifier', 'reference/'],
    ['transaction.updated', 'reference/on-transaction-updated.html'],
    ['payment-method.created', 'reference/on-payment-method-created.html'],
    ['payment_method.created', 'reference/on-payment-method-created.html'],
    ...['python', 'php', 'golang'].map((query) => [query, 'guides/']),
  ])('answers "%s", a name, with what begins with %s first', (query, first) => {
    expect(hrefs(query)[0]?.startsWith(first)).toBe(true);
  });

  it('also names webhooks, which are retried, for "retry"', () => {
    expect(hrefs('retry').slice(0, 3)).toContain('guides/webhooks.html#retries');
  });

  it('shows text, and no entities of HTML', () => {
    for (const { text } of guideEntries(pages)) expect(text).not.toMatch(/&#?\w+;/);
  });

  it('shows the words around the first hit, with all hits marked, and no table of Markdown', () => {
    const text = `${'so '.repeat(30)}it retries. A retried webhook, and its statuses`;
    expect(excerpt(text, 'when is a webhook retried')).toEqual([
      expect.stringMatching(/^….{20,}it retries. A $/),
      ...['retried', ' ', 'webhook', ', and its statuses'],
    ]);
    for (const query of ['', 'the', '(', 'a+b', '['])
      expect(excerpt('a (text)', query).join('')).toBe('a (text)');
    for (const entry of referenceEntries(contract)) expect(entry.text, entry.href).not.toContain('|');
  });

  it('finds a word with two swapped letters', () => {
    expect(hrefs('retyr').slice(0, 3)).toContain('guides/idempotency.html');
  });

  it.each(['qwertz', 'asdf', 'zzzzzz'])('finds nothing for "%s"', (query) => {
    expect(hrefs(query)).toEqual([]);
  });

  it('finds operations by name and path, and fields by name', () => {
    expect(hrefs('list transactions')[0]).toBe('reference/list-transactions.html');
    expect(hrefs('createPaymentMethod')[0]).toBe('reference/create-payment-method.html');
    expect(search('external_identifier').map(({ title }) => title)).toContain('external_identifier');
  });

  it('finds words by how they begin, and not by what is inside', () => {
    expect(search('curl').map(({ title }) => title)).not.toContain('url');
    expect(search('idempot')[0]?.title).toBe('Idempotency');
  });

  it('shows two hits of a page at most', () => {
    for (const query of ['webhook', 'payments', 'id']) {
      const found = hrefs(query);
      const count = (page: string) => found.filter((href) => href.startsWith(page)).length;
      expect(found.length, query).toBeGreaterThan(5);
      for (const page of new Set(found.map((href) => href.split('#')[0] ?? '')))
        expect(count(page), `${query}: ${page}`).toBeLessThanOrEqual(2);
    }
  });
});

it('the reference says since when an operation is deprecated, before its description', () => {
  const copy = structuredClone(contract);
  const list = copy.paths['/transactions']?.get;
  Object.assign(list ?? {}, { 'x-deprecation': { since: '2027-01-01', sunset: '2028-02-01' } });
  expect(forReaders(copy).paths['/transactions']?.get?.description).toContain(
    `**Deprecated since 2027-01-01, removed after 2028-02-01.**\n\n${list?.description}`,
  );
  expect(forReaders(contract).paths['/transactions']?.get?.description).not.toContain('Deprecated');
});
