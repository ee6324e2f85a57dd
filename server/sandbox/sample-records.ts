// The sandbox's buyers, gift cards and stored cards. The first buyer and the first gift card have the IDs of the contract's
// examples, so that these examples work unchanged.
import type { components } from '../../generated/types.ts';
import type { UnitOfWork } from '../kit/database/unit-of-work.ts';
import { describeSimulatedCard } from '../providers/simulated.ts';
import { createBuyer } from '../resources/buyers/changes.ts';
import { createGiftCard } from '../resources/gift-cards/changes.ts';
import { storeCard, type CardSecrets } from '../resources/payment-methods/changes.ts';
import type { PaymentMethodStatus } from '../resources/payment-methods/rules.ts';

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

type CardRow = [number: string, expiration_date: string, buyer: number, status: PaymentMethodStatus];

const cardRows: CardRow[] = [
  ['4111111111111111', '12/39', 0, 'succeeded'],
  ['5555555555554444', '08/38', 1, 'succeeded'],
  ['378282246310005', '03/37', 2, 'succeeded'],
  ['4012888888881881', '11/39', 3, 'processing'],
  ['5105105105105100', '05/39', 0, 'buyer_approval_required'],
  ['4111111111111111', '01/24', 1, 'failed'],
];

export const cards = cardRows.map(([number, expiration_date, buyer, status], index) => ({
  id: `0a1b2c3d-0003-4000-8000-00000000000${index + 1}`,
  external_identifier: `card-000${index + 1}`,
  number,
  expiration_date,
  buyer,
  status,
}));

export async function createSampleRecords(
  unit: UnitOfWork,
  merchant_account_id: string,
  secrets: CardSecrets,
): Promise<void> {
  for (const buyer of buyers) await createBuyer(unit, { merchant_account_id, ...buyer });
  for (const giftCard of giftCards)
    await createGiftCard(unit, { merchant_account_id, ...giftCard }, secrets.vault);
  for (const { buyer, ...card } of cards) {
    const facts = { merchant_account_id, buyer_id: buyers[buyer]?.id ?? null, redirect_url: null };
    await storeCard(unit, { ...card, ...facts, ...describeSimulatedCard(card.number) }, secrets);
  }
}
