/** The generated part of the corpus: valid requests from the contract, and random changes to them. */
import fc from 'fast-check';
import { operations, type OperationId } from '../../../generated/operations.ts';
import { sandboxCards } from '../../../server/providers/simulated.ts';
import { compatible, mutate, mutationsOf } from '../../support/mutations.ts';
import { request, type Json, type Sent } from '../../support/requests.ts';
import { examplePath } from '../../support/valid-request.ts';
import type { Who, Wire } from './parity.exchange.ts';

export const ids = Object.keys(operations) as OperationId[];

export function wireOf(sent: Sent, who: Who, name: string): Wire {
  const [method, path] = [operations[sent.id].method, examplePath(sent.id)];
  const search = new URLSearchParams(sent.query).toString();
  const wire = { name: `${sent.id}, ${name}`, method: method.toUpperCase(), who };
  const target = search === '' ? path : `${path}?${search}`;
  if (sent.body === undefined) return { ...wire, target, headers: {} };
  const headers = { 'Content-Type': 'application/json' };
  return { ...wire, target, headers, body: JSON.stringify(sent.body) };
}

const knownBuyer = { id: 'fe26475d-ec3e-4884-9553-f7356683f7f9', external: 'buyer-412' };
const cards = [...Object.keys(sandboxCards), '4242424242424242', '4111111111111112', '6011000990139424'];
const dates = ['12/39', '01/24', '13/39', '00/39'];
const giftCards = ['9999000050001234', '9999123456780000', '99990000500012345', '1234567890123456'];
// PINs that cause a delay are among the named cases.
const pins = ['1', '9000', '9001', '9002', '9003', '9007', '9012', '9013', '9502', '9502 ', '09001'];
const storedGiftCard = '356d56e5-fe16-42ae-97ee-8d55d846ae2e';

type Fields = Record<string, Json>;

// Random digits are not test numbers, so half of the numbers are replaced by test numbers.
function season(sent: Sent, pick: <T>(choices: readonly T[]) => T | undefined): Sent {
  const put = (fields: Fields, name: string, choices: readonly Json[]) => {
    const chosen = name in fields ? pick(choices) : undefined;
    if (chosen !== undefined) fields[name] = chosen;
  };
  const body = structuredClone(sent.body) as Fields;
  if (sent.id === 'createPaymentMethod') {
    put(body, 'number', cards);
    put(body, 'expiration_date', dates);
    put(body, 'buyer_id', [knownBuyer.id, knownBuyer.id.toUpperCase()]);
    put(body, 'buyer_external_identifier', [knownBuyer.external, 'no-such-buyer']);
  }
  if (sent.id === 'checkGiftCardBalances')
    for (const item of body.items as Fields[]) {
      put(item, 'number', giftCards);
      put(item, 'pin', pins);
      put(item, 'id', [storedGiftCard, storedGiftCard.toUpperCase()]);
    }
  return { ...sent, body };
}

export const valid = (id: OperationId): fc.Arbitrary<Sent> =>
  fc.tuple(request(id), fc.array(fc.nat(), { minLength: 8, maxLength: 8 })).map(([sent, picks]) => {
    let next = 0;
    return season(sent, (choices) => {
      const chosen = picks[next++ % picks.length] ?? 0;
      return chosen % 2 === 0 ? undefined : choices[(chosen >> 1) % choices.length];
    });
  });

export const brokenAtSome = (id: OperationId): fc.Arbitrary<{ sent: Sent; what: string }> =>
  fc.tuple(request(id), fc.array(fc.nat(), { minLength: 1, maxLength: 4 })).map(([sent, picks]) => {
    const all = mutationsOf(sent);
    const chosen = compatible(picks.flatMap((pick) => all[pick % all.length] ?? []));
    return { sent: mutate(sent, chosen), what: chosen.map(({ what }) => what).join('; ') };
  });

/** Text with a character removed, doubled or inserted. */
export const garbled = (text: fc.Arbitrary<string>, odd: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      text,
      fc.array(fc.tuple(fc.nat(), fc.constantFrom('', ...Array.from(odd))), { minLength: 1, maxLength: 3 }),
    )
    .map(([whole, edits]) =>
      edits.reduce((current, [at, character]) => {
        const place = at % (current.length + 1);
        return current.slice(0, place) + character + current.slice(character === '' ? place + 1 : place);
      }, whole),
    );

/** A query of any characters that are allowed in a request line. */
export const anyQuery: fc.Arbitrary<string> = fc.string({
  unit: fc.constantFrom(...Array.from('limit=&?%#[]+;:/0a')),
  maxLength: 30,
});
