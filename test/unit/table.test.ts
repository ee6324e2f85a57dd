// Tables of the command line fit the terminal.
import { describe, expect, it } from 'vitest';
import { tableLines } from '../../server/cli/table.ts';

const id = '7099948d-7286-47e4-aad8-b68f7eb44591';
const rows = [
  ['id', 'status', 'label', 'external_identifier'],
  [id, 'authorization_declined', '1111', 'order 2026-11-15 number 4711'],
  [id, 'processing', '1111', '-'],
];

describe('a table', () => {
  it('is complete when nobody says how wide the terminal is', () => {
    expect(tableLines(rows, undefined)).toEqual([
      `id                                    status                  label  external_identifier`,
      `${id}  authorization_declined  1111   order 2026-11-15 number 4711`,
      `${id}  processing              1111   -`,
    ]);
  });

  it('narrows its widest columns, marks what is cut, and keeps the first', () => {
    expect(tableLines(rows, 80)).toEqual([
      `id                                    status            label  external_identi…`,
      `${id}  authorization_d…  1111   order 2026-11-1…`,
      `${id}  processing        1111   -`,
    ]);
  });

  it('leaves out the last columns when they would be too narrow to read, and names them', () => {
    expect(tableLines(rows, 60)).toEqual([
      `id                                    status           label`,
      `${id}  authorization_…  1111`,
      `${id}  processing       1111`,
      '',
      'Not shown: external_identifier. Widen the terminal, or add --json.',
    ]);
    expect(tableLines(rows, 20)[1]).toBe(`${id.slice(0, 19)}…`);
  });

  it('counts characters as terminals show them, and cuts none in half', () => {
    const names = [
      ['id', 'name'],
      ['1', '東京都渋谷区'],
      ['2', '👩‍👩‍👧👍🏽e\u0301e\u0301e\u0301'],
      ['3', 'x'.repeat(20)],
    ];
    expect(tableLines(names, 12)).toEqual([
      'id  name',
      '1   東京都…',
      '2   👩‍👩‍👧👍🏽e\u0301e\u0301e\u0301',
      '3   xxxxxxx…',
    ]);
  });
});
