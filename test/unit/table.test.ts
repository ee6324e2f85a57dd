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
    expect(tableLines(rows, { columns: undefined })).toEqual([
      `id                                    status                  label  external_identifier`,
      `${id}  authorization_declined  1111   order 2026-11-15 number 4711`,
      `${id}  processing              1111   -`,
    ]);
  });

  it('narrows its widest columns, marks what is cut, and keeps the first and the status', () => {
    expect(tableLines(rows, { columns: 80 })).toEqual([
      `id                                    status                  label  external_i…`,
      `${id}  authorization_declined  1111   order 2026…`,
      `${id}  processing              1111   -`,
      '',
      'Cut: external_identifier. Widen the terminal, or add --wide.',
    ]);
  });

  it('leaves out the last columns when they would be too narrow to read, and names them', () => {
    expect(tableLines(rows, { columns: 60 })).toEqual([
      `id                                    status           label`,
      `${id}  authorization_…  1111`,
      `${id}  processing       1111`,
      '',
      'Not shown: external_identifier. Cut: status. Widen the terminal, or add --wide.',
    ]);
    expect(tableLines(rows, { columns: 20 })[1]).toBe(`${id.slice(0, 19)}…`);
  });

  it('cuts the status only if it does not fit otherwise', () => {
    expect(tableLines(rows, { columns: 50 })[1]).toBe(`${id}  authorizati…`);
  });

  it('leaves out less important columns first, before the others become too narrow', () => {
    const deliveries = [
      ['event', 'name', 'state', 'at', 'error', 'next_attempt'],
      [
        id,
        'payment-method.created',
        'pending',
        '11-15 23:16',
        'connect ECONNREFUSED 127.0.0.1:9',
        'in 5 min',
      ],
    ];
    const least = ['name', 'at'];
    expect(tableLines(deliveries, { columns: 80, least })).toEqual([
      `event                                 state    error                next_attempt`,
      `${id}  pending  connect ECONNREFUS…  in 5 min`,
      '',
      'Not shown: name, at. Cut: error. Widen the terminal, or add --wide.',
    ]);
    expect(tableLines(deliveries, { columns: 100, least })[0]).toMatch(
      /^event +state +at +error +next_attempt$/,
    );
  });

  it('cuts IDs and leaves wide columns out before a text that matters is cut', () => {
    const deliveries = [
      ['event', 'name', 'subscription', 'state', 'attempt', 'at', 'status', 'error', 'next_attempt'],
      [id, 'payment-method.created', id, 'pending', '1', '11-15 23:16', '500', 'HTTP 500', 'in 58 min'],
    ];
    const given = { columns: 80, least: ['subscription', 'name', 'status', 'attempt', 'at'] };
    expect(tableLines(deliveries, { ...given, textMatters: true })).toEqual([
      'event      state    attempt  at           status  error     next_attempt',
      '7099…4591  pending  1        11-15 23:16  500     HTTP 500  in 58 min',
      '',
      'Not shown: name, subscription. Cut: event. Widen the terminal, or add --wide.',
    ]);
    const long = deliveries.map((cells) =>
      cells.with(7, cells[7]?.replace('HTTP 500', 'x'.repeat(32)) ?? ''),
    );
    expect(tableLines(long, { ...given, columns: 100, textMatters: true })[1]).toMatch(
      / {2}x{32} {2}in 58 min$/,
    );
    expect(tableLines(deliveries, { columns: 200, textMatters: true })).toHaveLength(2);
  });

  it('counts characters as terminals show them, and cuts none in half', () => {
    const names = [
      ['id', 'name'],
      ['1', '東京都渋谷区'],
      ['2', '👩‍👩‍👧👍🏽e\u0301e\u0301e\u0301'],
      ['3', 'x'.repeat(20)],
    ];
    expect(tableLines(names, { columns: 12 })).toEqual([
      'id  name',
      '1   東京都…',
      '2   👩‍👩‍👧👍🏽e\u0301e\u0301e\u0301',
      '3   xxxxxxx…',
      '',
      'Cut: name. Widen the terminal, or add --wide.',
    ]);
  });
});
