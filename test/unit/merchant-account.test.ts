// Which merchant account a request is for. What a caller has no access to is answered like what does not exist.
import type { Request, Response } from 'express';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createMerchantAccount } from '../../server/kit/access/select.ts';
import { ApiError } from '../../server/kit/errors.ts';

const accounts = ['default', 'marketplace', 'third'];
const step = createMerchantAccount({
  first: () => Promise.resolve({ id: 'default' }),
  find: (id) => Promise.resolve(accounts.includes(id) ? { id } : undefined),
});

interface Asked {
  header?: string | undefined;
  own?: string[];
  merchantScope?: 'none' | 'one' | 'many';
  method?: 'get' | 'post';
}

async function select(
  { header, own, merchantScope = 'many', method = 'get' }: Asked,
  selecting = step,
): Promise<unknown> {
  const known = { operation: { merchantScope, method }, caller: { accounts: own ? { only: own } : 'all' } };
  const get = (name: string) => (name === 'x-service-merchant-account-id' ? header : undefined);
  const { selection } = await selecting(known as never, { get } as unknown as Request, {} as Response);
  return selection;
}

const refusal = (asked: Asked) =>
  select(asked).then(
    (selection) => ({ selection }),
    (error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      return { code: error.code, ...error.facts };
    },
  );

const fault = (message: string, type: string) => ({
  details: [{ location: 'header', pointer: '/x-service-merchant-account-id', message, type }],
});

describe('the merchant account of a request', () => {
  it.each<[string, Asked, unknown]>([
    ['the named one', { header: 'marketplace' }, { kind: 'one', id: 'marketplace' }],
    [
      'the named one of several own',
      { header: 'third', own: ['default', 'third'] },
      { kind: 'one', id: 'third' },
    ],
    ['without a header the first', {}, { kind: 'one', id: 'default' }],
    ['without a header the first own one', { own: ['third', 'marketplace'] }, { kind: 'one', id: 'third' }],
    ['* is all', { header: '*' }, { kind: 'many', accounts: 'all' }],
    [
      '* is all own ones for a read',
      { header: '*', own: ['default'] },
      { kind: 'many', accounts: { only: ['default'] } },
    ],
    [
      '* for a write of a pair with access to all',
      { header: '*', method: 'post' },
      { kind: 'many', accounts: 'all' },
    ],
    ['none for an operation without accounts', { merchantScope: 'none' }, { kind: 'none' }],
    ['nor if one is named', { merchantScope: 'none', header: 'unicorn' }, { kind: 'none' }],
    ['nor for *', { merchantScope: 'none', header: '*' }, { kind: 'none' }],
    ['an operation for one account', { merchantScope: 'one', header: 'third' }, { kind: 'one', id: 'third' }],
  ])('%s', async (_name, asked, selection) => {
    expect(await select(asked)).toEqual(selection);
  });

  const unknown = {
    code: 'not_found',
    ...fault('names no merchant account that this key pair can access', 'value_error.not_found'),
  };
  const length = (count: number) => 'x'.repeat(count);

  it.each<[string, Asked, unknown]>([
    ['an account that does not exist', { header: 'unicorn' }, unknown],
    ['one of somebody else gets the same answer', { header: 'default', own: ['third'] }, unknown],
    [
      'a pair without accounts',
      { own: [] },
      { code: 'not_found', reason: 'the key pair has access to no merchant account' },
    ],
    [
      '* for a write needs access to future accounts too',
      { header: '*', method: 'post', own: accounts },
      {
        code: 'forbidden',
        reason: '* needs access to all merchant accounts',
        ...fault('* needs a key pair with access to all merchant accounts', 'value_error.scope'),
      },
    ],
    [
      '* where one is needed',
      { header: '*', merchantScope: 'one' },
      {
        code: 'bad_request',
        ...fault('must name one merchant account: this operation does not accept *', 'value_error.const'),
      },
    ],
    ['255 characters are not too long', { header: length(255) }, unknown],
    [
      '256 are',
      { header: length(256) },
      { code: 'bad_request', ...fault('must have 255 characters or less', 'value_error.str.max_length') },
    ],
    [
      'an empty header',
      { header: '' },
      { code: 'bad_request', ...fault('must have 1 character or more', 'value_error.str.min_length') },
    ],
    ['a header given twice names no account', { header: 'market, place' }, unknown],
    [
      'a malformed header, even where no account is needed',
      { header: '', merchantScope: 'none' },
      { code: 'bad_request', ...fault('must have 1 character or more', 'value_error.str.min_length') },
    ],
  ])('%s', async (_name, asked, expected) => {
    expect(await refusal(asked)).toEqual(expected);
  });

  it.each<Asked>([{}, { header: 'default' }])(
    '%j: a service without accounts says so in the log',
    async (asked) => {
      const empty = createMerchantAccount({
        first: () => Promise.resolve(undefined),
        find: () => Promise.resolve(undefined),
      });
      await expect(select(asked, empty)).rejects.toMatchObject({
        ...{
          code: 'not_found',
          facts: { reason: expect.stringContaining('accounts create default') as string },
        },
      });
    },
  );

  it.each(['\u001fdefault', 'default\u007f', 'defäult', 'default\n', '\u0000', 'a\tb'])(
    '%j is not printable ASCII',
    async (header) => {
      expect(await refusal({ header })).toEqual({
        code: 'bad_request',
        ...fault('must consist of printable ASCII characters', 'value_error.str.regex'),
      });
    },
  );

  it('printable ASCII from the space to the tilde is looked up', async () => {
    expect(await refusal({ header: ' ~' })).toEqual(unknown);
  });

  it('those that a pair names, perhaps thousands, are not looked up', async () => {
    const never = () => Promise.reject(new Error('looked up'));
    const own = Array.from({ length: 5_000 }, (_, index) => `account-${index}`);
    const named = createMerchantAccount({ first: never, find: never });
    expect(await select({ header: 'account-4999', own }, named)).toEqual({ kind: 'one', id: 'account-4999' });
    expect(await select({ own }, named)).toEqual({ kind: 'one', id: 'account-0' });
  });

  it('is remembered for two seconds, no longer when the clock is set back', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    let id = 'default';
    const changing = createMerchantAccount({
      first: () => Promise.resolve({ id }),
      find: () => Promise.resolve(undefined),
    });
    await select({}, changing);
    id = 'third';
    vi.setSystemTime(Date.now() - 60_000);
    vi.advanceTimersByTime(1_999);
    expect(await select({}, changing)).toEqual({ kind: 'one', id: 'default' });
    vi.advanceTimersByTime(1);
    expect(await select({}, changing)).toEqual({ kind: 'one', id: 'third' });
  });
});
