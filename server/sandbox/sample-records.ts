// The sandbox's buyers, gift cards and stored cards. The first buyer and the first gift card are those of the contract's
// examples, so that an example works as it is pasted.
import type { components } from '../../generated/types.ts';
import { binOf, lastFour, schemeOf } from '../domain/cards.ts';
import { giftCardBin } from '../domain/gift-cards.ts';
import type { PaymentMethodStatus } from '../domain/state-machine.ts';
import type { Vault } from '../domain/vault.ts';
import { createBuyer } from '../store/buyers.ts';
import type { Db } from '../store/database.ts';
import { createGiftCard } from '../store/gift-cards.ts';
import { createPaymentMethod } from '../store/payment-methods.ts';
import { sandboxCards, sandboxIssuer } from './card-numbers.ts';

type BillingDetails = components['schemas']['BillingDetails'];

const bill = (
  first_name: string,
  last_name: string,
  city: string,
  country: string,
  postal_code: string,
): BillingDetails => ({
  type: 'billing-details',
  first_name,
  last_name,
  email_address: `${first_name.toLowerCase()}@example.com`,
  phone_number: null,
  address: {
    city,
    country,
    postal_code,
    state: null,
    state_code: null,
    house_number_or_name: null,
    line1: null,
    line2: null,
    organization: null,
  },
  tax_id: null,
});

export const buyers = [
  {
    id: 'fe26475d-ec3e-4884-9553-f7356683f7f9',
    external_identifier: 'buyer-412',
    display_name: 'Jane Doe',
    account_number: '1017',
    billing_details: bill('Jane', 'Doe', 'Springfield', 'US', '62704'),
  },
  {
    id: '0a1b2c3d-0001-4000-8000-000000000002',
    external_identifier: 'buyer-413',
    display_name: 'Ada Sørensen',
    account_number: '1018',
    billing_details: bill('Ada', 'Sørensen', 'Aarhus', 'DK', '8000'),
  },
  {
    id: '0a1b2c3d-0001-4000-8000-000000000003',
    external_identifier: 'buyer-414',
    display_name: 'Hiro Tanaka',
    account_number: null,
    billing_details: bill('Hiro', 'Tanaka', 'Osaka', 'JP', '530-0001'),
  },
  {
    id: '0a1b2c3d-0001-4000-8000-000000000004',
    external_identifier: 'buyer-415',
    display_name: 'Noor de Vries',
    account_number: '1020',
    billing_details: bill('Noor', 'de Vries', 'Utrecht', 'NL', '3511 AA'),
  },
  {
    id: '0a1b2c3d-0001-4000-8000-000000000005',
    external_identifier: null,
    display_name: 'Guest',
    account_number: null,
    billing_details: null,
  },
];

export const giftCards = [
  { id: '356d56e5-fe16-42ae-97ee-8d55d846ae2e', number: '9999000125505678', pin: '1111' },
  { id: '0a1b2c3d-0002-4000-8000-000000000002', number: '9999000000000042', pin: '1111' },
  { id: '0a1b2c3d-0002-4000-8000-000000000003', number: '9999000050004321', pin: '9002' },
];

export interface StoredCard {
  id: string;
  external_identifier: string;
  number: string;
  expiration_date: string;
  buyer: number;
  status: PaymentMethodStatus;
}

export const cards: StoredCard[] = [
  {
    id: '0a1b2c3d-0003-4000-8000-000000000001',
    external_identifier: 'card-0001',
    number: '4111111111111111',
    expiration_date: '12/39',
    buyer: 0,
    status: 'succeeded',
  },
  {
    id: '0a1b2c3d-0003-4000-8000-000000000002',
    external_identifier: 'card-0002',
    number: '5555555555554444',
    expiration_date: '08/38',
    buyer: 1,
    status: 'succeeded',
  },
  {
    id: '0a1b2c3d-0003-4000-8000-000000000003',
    external_identifier: 'card-0003',
    number: '378282246310005',
    expiration_date: '03/37',
    buyer: 2,
    status: 'succeeded',
  },
  {
    id: '0a1b2c3d-0003-4000-8000-000000000004',
    external_identifier: 'card-0004',
    number: '4012888888881881',
    expiration_date: '11/39',
    buyer: 3,
    status: 'processing',
  },
  {
    id: '0a1b2c3d-0003-4000-8000-000000000005',
    external_identifier: 'card-0005',
    number: '5105105105105100',
    expiration_date: '05/39',
    buyer: 0,
    status: 'buyer_approval_required',
  },
  {
    id: '0a1b2c3d-0003-4000-8000-000000000006',
    external_identifier: 'card-0006',
    number: '4111111111111111',
    expiration_date: '01/24',
    buyer: 1,
    status: 'failed',
  },
];

export interface Means {
  vault: Vault;
  fingerprint: (number: string) => string;
}

/** What is stored of a card, derived from its number as POST /payment-methods does. */
export const cardFacts = (number: string, { fingerprint }: Means) => ({
  scheme: schemeOf(number),
  bin: binOf(number),
  label: lastFour(number),
  fingerprint: fingerprint(number),
  card_type: sandboxCards[number]?.cardType ?? null,
  card_issuer_name: sandboxCards[number] ? sandboxIssuer : null,
});

export async function createPeople(db: Db, account: string, means: Means): Promise<void> {
  for (const buyer of buyers) await createBuyer(db, { merchant_account_id: account, ...buyer });
  for (const { id, number, pin } of giftCards) {
    const sealed = {
      number_sealed: means.vault.seal(number, 'gift-card'),
      pin_sealed: means.vault.seal(pin, 'gift-card'),
    };
    await createGiftCard(db, { id, merchant_account_id: account, ...sealed, ...giftCardBin(number) });
  }
  for (const { id, external_identifier, number, expiration_date, buyer, status } of cards) {
    await createPaymentMethod(db, {
      id,
      merchant_account_id: account,
      buyer_id: buyers[buyer]?.id ?? null,
      external_identifier,
      status,
      ...cardFacts(number, means),
      expiration_date,
      number_sealed: status === 'failed' ? null : means.vault.seal(number, 'card'),
      redirect_url: null,
    });
  }
}
