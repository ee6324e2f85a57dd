// Who may hold how many deliveries of a worker, and how many attempts run.
import { expect, it } from 'vitest';
import { createPlaces, type Places, type Recipient } from '../../server/webhooks/places.ts';

const limits = {
  ...{ heldPerSubscription: 6, heldAtFirst: 4, heldFailing: 2, heldPerAccount: 10 },
  ...{ perSubscription: 2, perAccount: 3 },
};
const to = (subscription_id: string, more: Partial<Recipient> = {}): Recipient => ({
  ...{ subscription_id, merchant_account_id: 'a', for_all: false, active: true, failing_since: null },
  ...more,
});

const succeed = () => Promise.resolve({ succeeded: true, finish: () => Promise.resolve() });

/** Deliveries whose attempts end when told to. */
function holding(places: Places) {
  const running: { name: string; end: (succeeded: boolean) => void }[] = [];
  const given: string[] = [];
  return {
    names: () => running.map(({ name }) => name),
    given,
    hold: (name: string, recipient: Recipient) =>
      places
        .hold(recipient, async () => {
          const succeeded = await new Promise<boolean>((end) => void running.push({ name, end }));
          return { succeeded, finish: () => Promise.resolve() };
        })
        .then((tried) => {
          if (!tried) given.push(name);
        }),
    end: async (name: string, succeeded: boolean) => {
      await new Promise(setImmediate);
      const index = running.findIndex((one) => one.name === name);
      running.splice(index, 1)[0]?.end(succeeded);
      await new Promise(setImmediate);
    },
  };
}

it('an attempt begins when its subscription and its account both have a free slot', async () => {
  const places = createPlaces(limits);
  const { hold, names, end } = holding(places);
  for (const name of ['1', '2', '3']) void hold(name, to('x'));
  void hold('4', to('y'));
  void hold('5', to('all', { for_all: true }));
  void hold('6', to('all', { for_all: true, merchant_account_id: 'b' }));
  await new Promise(setImmediate);
  // 3 waits for its subscription, 5 for its account; 6 is of another account.
  expect(names()).toEqual(['1', '2', '4', '6']);
  await end('4', true);
  expect(names()).toEqual(['1', '2', '6', '5']);
  await end('1', true);
  expect(names()).toEqual(['2', '6', '5', '3']);
});

it('places are counted together: of a subscription, of an account, and half of one that is for all accounts', () => {
  const places = createPlaces(limits);
  const all = (merchant_account_id: string) => to('all', { for_all: true, merchant_account_id });
  expect(places.allot([to('x'), to('y'), to('z'), to('x')])).toEqual([4, 4, 2, 0]);
  expect(places.allot([all('a'), all('b'), all('c')])).toEqual([2, 2, 0]);
  const failing_since = new Date();
  expect(places.allot([to('f', { failing_since }), to('f', { failing_since, active: false })])).toEqual([
    2, 2,
  ]);
  // What was allotted is not taken.
  expect(places.allot([to('x')])).toEqual([4]);
});

it('each success adds a place; a failure leaves one attempt at a time and returns the other places', async () => {
  const places = createPlaces(limits);
  const { hold, names, end, given } = holding(places);
  for (const name of ['1', '2', '3', '4']) void hold(name, to('x'));
  await end('1', true);
  expect(places.allot([to('x')])).toEqual([2]);
  void hold('5', to('x'));
  void hold('6', to('x'));
  await end('2', false);
  expect(given).toEqual(['5', '6']);
  expect(names()).toEqual(['3']);
  expect(places.allot([to('x')])).toEqual([0]);
  await end('3', true);
  expect(names()).toEqual(['4']);
  await end('4', true);
  // Two successes since the failure.
  expect(places.allot([to('x')])).toEqual([6]);
});

it('a receiver that is done before the next fetch keeps the places it earned, until it fails', async () => {
  const places = createPlaces(limits);
  const { hold, end } = holding(places);
  const done = async (recipient: Recipient, succeeded: boolean) => {
    void hold('one', recipient);
    await end('one', succeeded);
  };
  await done(to('x'), true);
  expect(places.allot([to('x'), to('y')])).toEqual([5, 4]);
  await done(to('x'), true);
  expect(places.allot([to('x')])).toEqual([6]);
  await done(to('x'), false);
  expect(places.allot([to('x')])).toEqual([4]);
});

it('only so many subscriptions are remembered, the last ones', async () => {
  const places = createPlaces(limits);
  for (let number = 0; number <= 1_000; number += 1)
    await places.hold(to(`${number}`, { merchant_account_id: `${number}` }), succeed);
  const room = (number: number) => places.allot([to(`${number}`)])[0];
  expect([room(1_000), room(1), room(0)]).toEqual([5, 5, 4]);
});

it('an answer frees the slot, and the place is kept until everything is done', async () => {
  const places = createPlaces({ ...limits, perSubscription: 1 });
  let finish: () => void = () => undefined;
  const finishing = new Promise<void>((done) => (finish = done));
  const first = places.hold(to('x'), () => Promise.resolve({ succeeded: true, finish: () => finishing }));
  await places.hold(to('x'), succeed);
  // Four at first, one for each success, and one is held.
  expect(places.allot([to('x')])).toEqual([5]);
  finish();
  await first;
  expect(places.allot([to('x')])).toEqual([6]);
});

it('half of the places are free when no more than the other half is held', async () => {
  const places = createPlaces(limits);
  const { hold, end } = holding(places);
  for (const name of ['1', '2', '3']) void hold(name, to('x'));
  expect(places.isHalfFree(to('x'))).toBe(false);
  await end('1', true);
  // Five places now.
  expect(places.isHalfFree(to('x'))).toBe(true);
});
