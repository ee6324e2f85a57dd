// Turns the page that Redoc rendered into the reference of our site: its script and style become assets, the URLs of other hosts
// are removed, and its content gets our frame. A replacement that does not match fails the build, so a Redoc update
// cannot break this unnoticed.
import { createHash } from 'node:crypto';
import { transformSync } from 'esbuild';
import { policyOf } from './shell.ts';

const emptyImage = `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E`;

/** What Redoc would load from, or report to, other hosts. */
const externalUrls = [
  'https://cdn.redoc.ly/redoc/logo-mini-full.svg',
  'https://cdn.redoc.ly/redoc/logo-mini.svg',
  'https://cdn.redocly.com/icons/fa/7.0.0',
  'https://cdn.redocly.com/icons/code/5.24.0',
  'https://otel.cloud.redocly.com/v1/traces',
];

/** Redoc's colours for the nesting levels of a schema. Most have too little contrast in light or dark mode. */
const nestingColours =
  '[`#9D00FF`,`#615CEA`,`#147DF5`,`#08BFCC`,`#08CC7A`,`#81CC08`,`#E5BE00`,`#FF8700`,`#FF00B8`]';

/** From this size on a script of Redoc's page is an asset, which browsers keep. */
const largeScript = 1_000_000;

export interface Reference {
  /** Redoc's styles, and its markup with small scripts. */
  head: string;
  content: string;
  policy: string;
}

/** `rendered` comes from template.html: the head of Redoc, a separator, its body. */
export function takeApart(rendered: string, asset: (name: string, content: string) => string): Reference {
  let page = rendered;
  for (const url of externalUrls) page = replace(page, url, emptyImage, 1);
  page = replace(page, nestingColours, '[`var(--color-primary-text)`]', 1);
  page = replace(page, 'hydrate(__redoc_definition', 'hydrate(window.withOwnUrl(__redoc_definition)', 1);
  if (!page.includes('"disableTelemetry":true'))
    throw new Error('Redoc would send telemetry; see redocly.yaml');
  const [redocHead = '', redocBody = ''] = page.split('<!-- body -->');
  // A page that is opened as a file cannot load modules, so the script becomes a classic one.
  const content = redocBody.replace(script, (whole, _attributes: string, source: string) =>
    source.length < largeScript
      ? whole
      : `<script defer src="${asset('redoc.js', asClassic(source))}"></script>`,
  );
  const hashes = scripts(redocHead + content)
    .filter((source) => source !== '')
    .map((source) => `'sha256-${createHash('sha256').update(source).digest('base64')}'`);
  return { head: redocHead, content, policy: policyOf(hashes) };
}

const definition = 'const __redoc_definition = ';
const placeholder = '__contract__';
let classic: { source: string; code: string } | undefined;

/** Redoc's own part is the same in each build of `npm run dev`, and takes half of a build's time, so it is kept. */
function asClassic(source: string): string {
  const start = source.indexOf(definition) + definition.length;
  const end = source.indexOf(';\n', start);
  const own = replace(source, source.slice(start, end), placeholder, 1);
  if (classic?.source !== own)
    classic = { source: own, code: transformSync(own, { format: 'iife', minifyWhitespace: true }).code };
  return replace(classic.code, placeholder, source.slice(start, end), 1);
}

const script = /<script\b([^>]*)>([\s\S]*?)<\/script>/g;

const scripts = (page: string) => [...page.matchAll(script)].map(([, , source = '']) => source);

function replace(page: string, from: string, to: string, times: number): string {
  const found = page.split(from).length - 1;
  if (found !== times)
    throw new Error(`Expected ${times} × "${from}" in the page that Redoc rendered, found ${found}`);
  return page.replaceAll(from, () => to);
}
