// Access needs both the scopes of the token and the roles of its key pair, with one rule for wildcards.
import { describe, expect, it } from 'vitest';
import { operations } from '../../generated/operations.ts';
import { isAllowed, isPermission, isScope } from '../../server/kit/access/roles/rules.ts';

describe('isScope', () => {
  it.each(['transactions.read', 'gift-cards.write', '*.read', '*.write', 'embed', 'a1-b2-c3.read'])(
    '%s is one',
    (text) => {
      expect(isScope(text)).toBe(true);
    },
  );

  it.each([
    ...['', '.', '.read', 'read', '*', '*.*', '*.embed', 'transactions', 'transactions.', 'transactions.*'],
    ...[
      'transactions.readx',
      'transactions.read.write',
      'transactions.READ',
      'Transactions.read',
      'embed.read.x',
    ],
    ...['gift--cards.read', '-cards.read', 'cards-.read', 'gift_cards.read', ' transactions.read'],
    ...[
      'transactions.read ',
      'transactions.read\n',
      'transactions.read transactions.write',
      'EMBED',
      'embed\n',
    ],
  ])('%j is none', (text) => {
    expect(isScope(text)).toBe(false);
  });

  it('embed is a scope of tokens, never a permission of roles', () => {
    expect(isPermission('embed')).toBe(false);
    expect(isPermission('*.read')).toBe(true);
  });

  it('every scope in the contract is valid', () => {
    const named = Object.values(operations).flatMap(({ scopes }) => [...scopes] as string[]);
    expect(named.filter((scope) => !isScope(scope))).toEqual([]);
  });
});

describe('isAllowed', () => {
  const read = ['transactions.read'];
  const write = ['payment-methods.write'];
  const browser = ['gift-cards.read', 'embed'];
  const all = ['*.read', '*.write'];

  it.each<[why: string, needed: string[], scopes: string[], permissions: string[], allowed: boolean]>([
    ['the scope itself on both sides', read, ['transactions.read'], ['transactions.read'], true],
    ['a wildcard in the token', read, ['*.read'], ['transactions.read'], true],
    ['a wildcard in the role', read, ['transactions.read'], ['*.read'], true],
    ['wildcards on both sides', write, ['*.write'], all, true],
    ['one scope among others', read, ['buyers.write', 'transactions.read'], ['x.read', '*.read'], true],

    ['one of two alternatives', [...write, ...read], ['transactions.read'], ['transactions.read'], true],

    ['no scopes', read, [], all, false],
    ['no permissions', read, ['transactions.read'], [], false],
    ['neither', read, [], [], false],
    ['an operation that names nothing is open to nobody', [], all, all, false],
    ['the scope, but not the role', read, ['transactions.read'], ['buyers.read'], false],
    ['the role, but not the scope', read, ['buyers.read'], all, false],

    ['writing does not include reading', read, ['transactions.write'], all, false],
    ['nor in a role', read, ['transactions.read'], ['transactions.write'], false],
    ['nor by wildcard', read, ['*.write'], ['*.write'], false],
    ['reading does not include writing', write, ['*.read', 'payment-methods.read'], all, false],

    ['a longer verb', read, ['transactions.readx'], all, false],
    ['a shorter resource', read, ['transaction.read'], all, false],
    ['a longer resource', read, ['transactions-x.read'], all, false],
    ['another case', read, ['Transactions.Read'], all, false],
    ['a resource alone', read, ['transactions', 'read', '*'], all, false],
    ['all verbs of a resource', read, ['transactions.*', '*.*'], all, false],
    ['a prefix in the role', read, ['transactions.read'], ['transaction.read', 'transactions.readx'], false],

    ['embed, with a role for the own scope', browser, ['embed'], ['gift-cards.read'], true],
    ['embed, with a wildcard role', browser, ['embed'], ['*.read'], true],
    ['embed, without a role', browser, ['embed'], [], false],
    ['embed, with a role for something else', browser, ['embed'], ['*.write', 'transactions.read'], false],
    ['embed, with a role that claims embed', browser, ['embed'], ['embed'], false],
    ['the own scope instead of embed', browser, ['gift-cards.read'], ['gift-cards.read'], true],
    ['embed on an operation that does not name it', read, ['embed'], all, false],
    [
      'an operation for browsers alone has no scope that a role could allow',
      ['embed'],
      ['embed'],
      all,
      false,
    ],
    ['wildcards do not include embed', ['embed'], all, [...all, 'embed'], false],
  ])('%s', (_why, needed, scopes, permissions, allowed) => {
    expect(isAllowed(needed, scopes, permissions)).toBe(allowed);
  });
});
