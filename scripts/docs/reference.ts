// Turns the page that Redoc rendered into the reference of our site: its script and style become assets, the URLs of other hosts
// are removed, and its content gets our frame.
import { transformSync } from 'esbuild';
import { replaceOnce } from './replace-once.ts';
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

/** In a region of its own, because Redoc's <main> is not ours. */
const title = `<section aria-labelledby="title"><h1 id="title" class="unseen">API reference</h1></section>\n`;

/** `rendered` comes from template.html: the head of Redoc, a separator, its body. */
export function takeApart(rendered: string, asset: (name: string, content: string) => string) {
  let page = rendered;
  for (const url of externalUrls) page = replaceOnce(page, url, emptyImage);
  page = replaceOnce(page, nestingColours, '[`var(--color-primary-text)`]');
  page = replaceOnce(page, 'hydrate(__redoc_definition', 'hydrate(window.withOwnUrl(__redoc_definition)');
  // Below the h2 of an operation, Redoc has h4 and h5. A screen reader would look for what was left out.
  page = replaceOnce(page, '.h4.attrs(', '.h3.attrs(').replaceAll('.h5`', '.h4`');
  // The name of a list would hide which example it shows.
  page = replaceOnce(page, '"aria-label":`Example`,', '');
  const [head = '', body = ''] = page.split('<!-- body -->');
  return {
    head,
    content:
      title +
      body
        // It chooses light or dark colours, as ours does.
        .replace(/<script>[\s\S]*?<\/script>/, '')
        // A page that is opened as a file cannot load modules, so the script becomes a classic one.
        .replace(/<script type="module">([\s\S]*?)<\/script>/, (_, source: string) => {
          const { code } = transformSync(source, { format: 'iife', minifyWhitespace: true });
          return `<script defer src="${asset('redoc.js', code)}"></script>`;
        }),
    // Redoc adds styles.
    policy: policyOf("'self' 'unsafe-inline'"),
  };
}
