/**
 * What the contract may have beyond the specification: an operation, an optional query parameter, a field, a status, an
 * event, an error code. It is no fault once a line below "### Contract" in CHANGELOG.md names it; nobody adds it by mistake.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { announces, codeSpans } from '../../../scripts/diff/announce.ts';
import type { Fault } from './checker.ts';

/** The code spans below every "### Contract". */
export const announcementsIn = (changelog: string): string =>
  changelog
    .split(/^(?=##+ )/mu)
    .filter((section) => section.startsWith('### Contract'))
    .map(codeSpans)
    .join('\n');

export const announcements = announcementsIn(
  readFileSync(join(import.meta.dirname, '../../../CHANGELOG.md'), 'utf8'),
);

/** Faults without the additions that were announced. */
export const withoutAnnounced = (faults: Fault[], text = announcements): Fault[] =>
  faults.filter(({ beyond }) => beyond === undefined || !announces(text, beyond));

/** What to do about additions that were not announced; undefined if there are none. */
export function adviceFor(faults: Fault[]): string | undefined {
  const names = new Set(faults.flatMap(({ beyond }) => (beyond === undefined ? [] : [`\`${beyond}\``])));
  return names.size === 0
    ? undefined
    : `Name ${[...names].join(', ')} in a line below "### Contract" of CHANGELOG.md: npm run diff prints the line`;
}
