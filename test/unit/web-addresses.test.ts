// What the contract accepts as the URL of a webhook or of a redirect can be called, unless no parser accepts its host, which is
// 422; and nothing that can be called is refused. The WHATWG URL parser, which sends the requests, is the judge.
import { fullFormats } from 'ajv-formats/dist/formats.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileAt, createAjv } from '../../server/kit/contract/ajv.ts';
import { loadContract } from '../../server/kit/contract/load.ts';
import { card as required } from '../support/card.ts';
import { runs } from '../support/random.ts';

const ajv = createAjv(loadContract().document, {});
const subscription = compileAt(ajv, '/components/schemas/WebhookSubscriptionCreate');
const card = compileAt(ajv, '/components/schemas/PaymentMethodCreate');
const fields: [string, (url: string) => boolean][] = [
  ['url of a subscription', (url) => subscription({ url })],
  ['redirect_url', (redirect_url) => card({ ...required, redirect_url })],
];

// Mostly well-formed, so that many are accepted; the odd parts are those that parsers disagree about.
const name = fc.oneof(
  fc.domain(),
  fc.ipV4(),
  fc.ipV4Extended(),
  fc.ipV6().map((text) => `[${text}]`),
  fc.constantFrom('localhost', 'xn--bcher-kva.example', 'b%C3%BCcher.example', '%61.example', 'a_b', 'a..b'),
  fc.constantFrom('', '.', 'foo.1', '1.2.3.999', '0x7f.1', 'xn--a', '%zz', 'a%20b', '[v1.a]', '[::1%25eth0]'),
  fc.string({ unit: fc.constantFrom(...Array.from("aZ09.-_~!$&'()*+,;=:@%[]x")), maxLength: 12 }),
);
const login = fc.oneof(
  { weight: 6, arbitrary: fc.constant('') },
  fc.constantFrom('@', 'user@', 'user:pass@', ':@', ':pass@', 'a@b@'),
);
const port = fc.oneof(
  { weight: 2, arbitrary: fc.constant('') },
  fc.constantFrom(
    ':',
    ':0',
    ':00',
    ':1',
    ':0080',
    ':443',
    ':65535',
    ':65536',
    ':99999',
    ':b',
    ':8o',
    ':-1',
    ': 1',
  ),
  fc.integer({ min: 0, max: 70_000 }).map((number) => `:${number}`),
);
const rest = fc.oneof(
  fc.constantFrom('', '/', '?x', '#x', '/a@b:c', '?a@b', '#@', '/%zz', '/a b', '/ü', '\n', '/\n', '//', '\\'),
  fc.webPath(),
);
const scheme = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('https://', 'http://') },
  fc.constantFrom('https:/', 'https:', 'https:///', 'HTTPS://', 'ftp://', 'httpss://', ' https://', '//'),
);
const address = fc.oneof(
  fc.tuple(scheme, login, name, port, rest).map((parts) => parts.join('')),
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
);

const isUri = fullFormats.uri as (text: string) => boolean;
/** What the scheme and `format: uri` alone accept. */
const isHttpUri = (text: string) => /^https?:\/\//.test(text) && isUri(text) && text.length <= 2000;

describe.each(fields)('the %s', (_name, accepts) => {
  it('accepts only what can be called, or has a host that no parser accepts', () => {
    let accepted = 0;
    fc.assert(
      fc.property(address, (text) => {
        if (!accepts(text)) return;
        accepted += 1;
        if (!URL.canParse(text)) return;
        const { protocol, hostname, port: number, username, password } = new URL(text);
        expect(protocol).toMatch(/^https?:$/);
        expect(hostname).not.toBe('');
        // Empty for the default port of the scheme.
        expect(number === '' || (Number(number) >= 1 && Number(number) <= 65_535)).toBe(true);
        expect([username, password]).toEqual(['', '']);
      }),
      { numRuns: runs(1_000) },
    );
    expect(accepted).toBeGreaterThan(runs(200));
  });

  it('refuses nothing that could be called', () => {
    let callable = 0;
    fc.assert(
      fc.property(address, (text) => {
        // A login is refused by decision; `https:///a` has no host (RFC 3986), although parsers find one.
        if (!isHttpUri(text) || !URL.canParse(text) || /^https?:\/\/(\/|[^/?#]*@)/.test(text)) return;
        if (new URL(text).port === '0') return;
        callable += 1;
        expect([text, accepts(text)]).toEqual([text, true]);
      }),
      { numRuns: runs(1_000) },
    );
    expect(callable).toBeGreaterThan(runs(200));
  });

  it.each(['https://a:b/', 'http://?x', 'https://', 'https://a:99999/', 'https://a:65536', 'https://a:0/'])(
    'refuses %s, which has no host or no such port',
    (text) => {
      expect([isHttpUri(text), accepts(text)]).toEqual([true, false]);
    },
  );

  it.each(['https://user:pass@shop.example/', 'https://user@shop.example/', 'https://@shop.example/'])(
    'refuses the login in %s',
    (text) => {
      expect([isHttpUri(text), accepts(text)]).toEqual([true, false]);
    },
  );

  it.each(['https://[v1.a]/', 'https:///shop.example'])('refuses %s, which is no host', (text) => {
    expect([isHttpUri(text), accepts(text)]).toEqual([true, false]);
  });

  // Not `https://xn--a/`: Node 24 takes it for a host.
  it.each(['https://256.1.1.1/', 'https://1.2.3.4.5/', 'https://a%20b/', 'https://foo.1/'])(
    'leaves %s, which a pattern cannot tell from a host, to a 422',
    (text) => {
      expect([accepts(text), URL.canParse(text)]).toEqual([true, false]);
    },
  );

  it.each([
    'https://a',
    'http://[::1]:8080/x?y#z',
    'https://a:/',
    'https://a:0443/',
    'https://a/b@c:d?e@f#@',
  ])('accepts %s', (text) => {
    expect(accepts(text)).toBe(true);
  });
});
