/**
 * What the contract may have beyond the specification: an operation, an optional query parameter, a field, a status, an
 * event, an error code. It is no fault once a line below "### Contract" in CHANGELOG.md names it; nobody adds it by mistake.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from './checker.ts';

/** The code spans below every "### Contract", without those of the first version, which the specification is. */
export function announcementsIn(changelog: string): string {
  const sections = changelog.split(/^(?=##+ )/mu);
  let version = '';
  return sections
    .filter((section) => {
      [, version = version] = /^## (\S+)/u.exec(section) ?? [];
      return section.startsWith('### Contract') && version !== '1.0.0';
    })
    .flatMap((section) => section.match(/`[^`]+`/gu) ?? [])
    .join('\n');
}

export const announcements = announcementsIn(
  readFileSync(join(import.meta.dirname, '../../../CHANGELOG.md'), 'utf8'),
);

/** As a whole word: `/buyers` does not announce `/buyers/{buyer_id}`, nor `limits` a `limit`. */
function names(text: string, name: string): boolean {
  const word = name.replace(/[^\w\s/-]/gu, '\\$&');
  return new RegExp(`(?<![\\w./{-])${word}(?![\\w/{-])`, 'u').test(text);
}

/** Faults without the additions that were announced. */
export const withoutAnnounced = (faults: Fault[], text = announcements): Fault[] =>
  faults.filter(({ beyond }) => beyond === undefined || !names(text, beyond));
