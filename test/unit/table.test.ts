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

  it('cuts the line when the terminal is narrower than its columns can be', () => {
    for (const line of tableLines(rows, 40)) expect(line.length).toBeLessThanOrEqual(40);
    expect(tableLines(rows, 40)[1]).toBe(`${id}  a…`);
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
