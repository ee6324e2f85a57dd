import { describe, expect, it } from 'vitest';
import { append, insertBefore } from '../../scripts/new/contract-text.ts';
import { plural, singular } from '../../scripts/new/names.ts';

const file = `# The map.
paths:
  /a: # first
    $ref: ./a.yaml
  # the second
  /b:
    $ref: ./b.yaml # last

# Events.
webhooks:
  x.y:
    text: >-
      folded
      text
`;

describe('adding to a file of the contract', () => {
  it('keeps comments, empty lines and folded text', () => {
    const added = append(['paths'], '  /c:\n    $ref: ./c.yaml\n')(file);
    expect(added).toBe(file.replace('# last\n', '# last\n  /c:\n    $ref: ./c.yaml\n'));
  });

  it('adds at the end of the file, also without a line break there', () => {
    const added = append(['webhooks'], '  z.y: {}\n');
    expect(added(file)).toBe(`${file}  z.y: {}\n`);
    expect(added(file.trimEnd())).toBe(`${file}  z.y: {}\n`);
  });

  it('adds to a list', () => {
    const list = 'get:\n  parameters:\n    - $ref: a # one\n  responses: {}\n';
    expect(append(['get', 'parameters'], '    - $ref: b\n')(list)).toBe(
      list.replace('# one\n', '# one\n    - $ref: b\n'),
    );
  });

  it('puts a method before those that follow it, below the comments that open the file', () => {
    const path = '# About.\nget: {}\ndelete: {}\n';
    expect(insertBefore(['get', 'delete'], 'post: {}\n')(path)).toBe(
      '# About.\npost: {}\nget: {}\ndelete: {}\n',
    );
    expect(insertBefore(['patch', 'delete'], 'put: {}\n')(path)).toBe(
      '# About.\nget: {}\nput: {}\ndelete: {}\n',
    );
  });

  it('puts the last method at the end, also without a line break there', () => {
    expect(insertBefore([], 'delete: {}\n')('get: {}')).toBe('get: {}\ndelete: {}\n');
  });

  it.each(['paths:', 'paths: {}', 'paths: {} # none', 'paths: []', 'paths: # none'])(
    'adds the first entry to `%s`',
    (line) => {
      const added = append(['paths'], '  /c: {}\n');
      const comment = line.includes('#') ? ' # none' : '';
      expect(added(`a: 1\n${line}\nb: 2\n`)).toBe(`a: 1\npaths:${comment}\n  /c: {}\nb: 2\n`);
      expect(added(line)).toBe(`paths:${comment}\n  /c: {}\n`);
    },
  );

  it('refuses a place that is neither map nor list', () => {
    expect(() => append(['unicorn'], '')(file)).toThrow('unicorn is not a map or a list');
  });
});

describe('one and many', () => {
  it.each([
    ['buyer', 'buyers'],
    ['address', 'addresses'],
    ['currency', 'currencies'],
    ['key', 'keys'],
    ['box', 'boxes'],
  ])('%s, %s', (one, many) => {
    expect([plural(one), singular(many)]).toEqual([many, one]);
  });
});
