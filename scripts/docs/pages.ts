// The sandbox's pages for developers: landing page and console. They are no part of the docs, because production has none of
// them; server/http/desk serves them and answers what they ask.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { bundled } from './bundled.ts';
import type { Contract } from './contract.ts';
import { createSite, type Site } from './files.ts';
import { escape } from './markdown.ts';

const own = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
const swagger = (name: string) =>
  readFileSync(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`), 'utf8');

export async function assemblePages({ info: { title } }: Contract): Promise<Site> {
  const site = createSite();
  const icon = site.asset('logo.svg', own('logo.svg'));
  const style = site.asset('desk.css', own('base.css') + own('desk.css'));
  site.page(
    'index.html',
    page({
      title: `${title}: sandbox`,
      here: 'home',
      icon: `/${icon}`,
      styles: [`/${style}`],
      scripts: [`/${site.asset('desk.js', await bundled('desk.ts'))}`],
      content: own('landing.html'),
      name: title,
    }),
  );
  // Without the comment that names a source map, which is not there.
  const bundle = swagger('swagger-ui-bundle.js').replace(/\n?\/\/# sourceMappingURL=.*\s*$/, '');
  const look = swagger('swagger-ui.css').replace(/\n?\/\*# sourceMappingURL=.*\*\/\s*$/, '');
  site.page(
    'console/index.html',
    page({
      title: `${title}: console`,
      here: 'console',
      icon: `/${icon}`,
      styles: [
        `/${site.asset('swagger.css', look)}`,
        `/${style}`,
        `/${site.asset('console.css', own('console.css'))}`,
      ],
      scripts: [
        `/${site.asset('swagger.js', bundle)}`,
        `/${site.asset('console.js', await bundled('console.ts'))}`,
      ],
      content: own('console.html'),
      name: title,
    }),
  );
  return site;
}

interface Parts {
  title: string;
  name: string;
  here: 'home' | 'console';
  icon: string;
  styles: string[];
  scripts: string[];
  content: string;
}

/** Absolute addresses: these pages are served at the root of the sandbox and nowhere else. */
const page = ({ title, name, here, icon, styles, scripts, content }: Parts) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<meta name="color-scheme" content="light dark">
<link rel="icon" type="image/svg+xml" href="${icon}">
${styles.map((href) => `<link rel="stylesheet" href="${href}">`).join('\n')}
${scripts.map((src) => `<script src="${src}"></script>`).join('\n')}
</head>
<body>
<header class="bar">
<a class="brand" href="/"${here === 'home' ? ' aria-current="page"' : ''}><img src="${icon}" alt="" width="28" height="28"><span>${escape(name)}</span></a>
<nav aria-label="Pages">
<a href="/docs/">Docs</a>
<a href="/console/"${here === 'console' ? ' aria-current="page"' : ''}>Console</a>
</nav>
<button class="theme-button" type="button" aria-label="Dark colours" aria-pressed="false">◐</button>
</header>
${content}
</body>
</html>
`;
