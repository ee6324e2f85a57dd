// Post-processes the page that Redoc rendered: adds our theme, removes the URLs of other hosts, and verifies that the result
// loads nothing. A replacement that does not match fails the build, so a Redoc update cannot break this unnoticed.
import { createHash } from 'node:crypto';

const emptyImage = `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E`;

/** What Redoc would load from, or report to, other hosts. */
const externalUrls = [
  'https://cdn.redoc.ly/redoc/logo-mini-full.svg',
  'https://cdn.redoc.ly/redoc/logo-mini.svg',
  'https://cdn.redocly.com/icons/fa/7.0.0',
  'https://cdn.redocly.com/icons/code/5.24.0',
  'https://otel.cloud.redocly.com/v1/traces',
];

/** Hosts that appear in namespaces, messages and links, but from which nothing is loaded. */
const allowedHosts = new Set([
  ...[
    'www.w3.org',
    'example.com',
    'localhost',
    'github.com',
    'commonmark.org',
    'en.wikipedia.org',
    'yarnpkg.com',
  ],
  ...['react.dev', 'reactrouter.com', 'redocly.com', 'chatgpt.com', 'claude.ai'],
]);

const credit = 'API docs by';

/** Redoc's colours for the nesting levels of a schema. Most have too little contrast in light or dark mode. */
const nestingColours =
  '[`#9D00FF`,`#615CEA`,`#147DF5`,`#08BFCC`,`#08CC7A`,`#81CC08`,`#E5BE00`,`#FF8700`,`#FF00B8`]';

export interface Parts {
  description: string;
  addresses: Record<string, string>;
  logo: string;
  theme: string;
}

export function finishPage(rendered: string, parts: Parts, contract: string): string {
  let page = rendered;
  for (const url of externalUrls) page = replace(page, url, emptyImage, 1);
  // The removed logo completed this sentence. It occurs in the markup and in the script.
  page = replace(page, credit, `${credit} Redoc`, 2);
  page = replace(page, nestingColours, '[`var(--color-primary-text)`]', 1);
  page = replace(page, '@@description@@', escape(parts.description), 1);
  page = replace(page, '@@addresses@@', escape(JSON.stringify(parts.addresses)), 1);
  page = replace(page, '@@logo@@', parts.logo, 1);
  page = replace(page, '@@theme@@', `<style>\n${parts.theme}</style>`, 1);
  page = replace(page, '@@policy@@', policy(page), 1);
  proveSelfContained(page, contract);
  return page;
}

/** The Content-Security-Policy: the browser runs only the scripts of this build and loads nothing else. */
export function policy(page: string): string {
  const hashes = scripts(page).map(
    (source) => `'sha256-${createHash('sha256').update(source).digest('base64')}'`,
  );
  return [
    `default-src 'none'`,
    `script-src ${hashes.join(' ')}`,
    `style-src 'unsafe-inline'`,
    `img-src data:`,
    `font-src data:`,
    `base-uri 'none'`,
    `form-action 'none'`,
  ].join('; ');
}

export function proveSelfContained(page: string, contract: string): void {
  if (!page.includes('"disableTelemetry":true'))
    throw new Error('Redoc would send telemetry; see redocly.yaml');
  const markup = page.replace(script, '<script></script>');
  const loads = markup.match(
    /<(?!a\b)[^<>]*\s(?:src|srcset|href)="(?!data:|#)[^"]*"|url\((?!["']?data:)|@import\b/g,
  );
  if (loads) throw new Error(`The page would load: ${loads.join(', ')}`);
  const known = new Set([...allowedHosts, ...hosts(contract)]);
  const unknown = [...new Set(hosts(page))].filter((host) => !known.has(host));
  if (unknown.length > 0)
    throw new Error(
      `The page names unknown hosts: ${unknown.join(', ')}. If nothing is loaded from them, add them to allowedHosts in scripts/docs/page.ts.`,
    );
}

const script = /<script\b[^>]*>([\s\S]*?)<\/script>/g;

const scripts = (page: string) => [...page.matchAll(script)].map(([, source = '']) => source);

const hosts = (text: string) =>
  [...text.matchAll(/https?:\/\/([a-z0-9.-]*[a-z0-9])/gi)].map(([, host = '']) => host);

const escape = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

function replace(page: string, from: string, to: string, times: number): string {
  const found = page.split(from).length - 1;
  if (found !== times)
    throw new Error(`Expected ${times} × "${from}" in the page that Redoc rendered, found ${found}`);
  return page.replaceAll(from, () => to);
}
