// Links in the texts of the contract that lead nowhere. They lead to a heading of the introduction (`#section/Rate-limits`), to an
// operation (`#operation/listTransactions`), or to a heading of a guide (`/docs/guides/languages.html#signing-a-token`).
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { slug } from 'github-slugger';
import { nearest } from '../../server/kit/rules/nearest.ts';
import { filesIn } from '../support/files.ts';
import type { Problem } from './problem.ts';
import type { Sources } from './sources.ts';

const introduction = 'openapi/introduction.md';
const folder = 'docs/guides';

export function deadLinks(sources: Sources, project: string): Problem[] {
  const read = (file: string) =>
    existsSync(join(project, file)) ? readFileSync(join(project, file), 'utf8') : '';
  if (!existsSync(join(project, introduction))) return [];
  const texts = new Map([...sources].map(([file, { text }]) => [file, text]));
  texts.set(introduction, read(introduction));
  const own = [
    ...headingsIn(read(introduction)).map((heading) => `#section/${slug(heading, true)}`),
    ...[...texts.values()].flatMap(operationsIn).map((name) => `#operation/${name}`),
  ];
  const guides = existsSync(join(project, folder)) ? filesIn(project, folder) : [];
  const placesOn = (page: string): string[] => {
    // Some pages are not named after their file, and some are a part of the introduction: any heading will do for those.
    const named = guides.filter((file) => file === `${folder}/${page}.md`);
    const files = named.length > 0 ? named : [introduction, ...guides];
    return files.flatMap((file) =>
      headingsIn(read(file)).map((heading) => `/docs/guides/${page}.html#${slug(heading)}`),
    );
  };
  return [...texts].flatMap(([file, text]) =>
    [...text.matchAll(links)].flatMap(({ 0: href, 1: page, index }): Problem[] => {
      // A copy of the contract alone has no guides.
      if (page !== undefined && guides.length === 0) return [];
      const places = page === undefined ? own : placesOn(page);
      // The docs compare links without regard to capitals.
      if (places.some((place) => place.toLowerCase() === href.toLowerCase())) return [];
      const before = text.slice(0, index).split('\n');
      const near = nearest(href, places);
      const advice = near === undefined ? howToLink : `Did you mean ${near}?`;
      const message = `This link leads nowhere: ${href}. ${advice}`;
      return [{ rule: 'link', file, line: before.length, column: (before.at(-1) ?? '').length + 1, message }];
    }),
  );
}

/** What follows `](`. The name of a page is a group. */
const links = /(?<=\]\()(?:#|\/docs\/guides\/([\w-]+)\.html#)[^)\s]*/g;

const howToLink =
  'Link to a heading of openapi/introduction.md as #section/The-heading, or to an operation as #operation/ and its operationId.';

/** Not the comments in blocks of code. */
const headingsIn = (markdown: string): string[] =>
  [...markdown.replaceAll(/^```[^]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);

const operationsIn = (yaml: string): string[] =>
  [...yaml.matchAll(/^ *operationId: *["']?(\w+)/gm)].map(([, name = '']) => name);
