import type { ColumnType, Selectable } from 'kysely';
import type { components } from '../../../generated/types.ts';
import {
  presentColumns,
  type MaybeStamp,
  type Shown,
  type ShownColumns,
} from '../../kit/database/columns.ts';
import { presentBuyer, type BuyerRow } from '../buyers/table.ts';
import { approvalPath } from './rules.ts';

type PaymentMethod = components['schemas']['PaymentMethod'];

/** Made by the presenter, from other columns and from the buyer. */
type Computed =
  | 'type'
  | 'additional_schemes'
  | 'approval_target'
  | 'approval_url'
  | 'buyer'
  | 'details'
  | 'method'
  | 'mode';

const paymentMethodColumns = {
  id: 'uuid',
  country: 'text',
  created_at: 'timestamptz',
  currency: 'text',
  expiration_date: 'text',
  external_identifier: 'text',
  fingerprint: 'text',
  has_replacement: 'boolean',
  label: 'text',
  last_replaced_at: 'timestamptz',
  merchant_account_id: 'text',
  scheme: 'text',
  status: 'text',
  updated_at: 'timestamptz',
  last_used_at: 'timestamptz',
  usage_count: 'integer',
  cit_last_used_at: 'timestamptz',
  cit_usage_count: 'integer',
} as const satisfies Shown<PaymentMethod, Computed & keyof PaymentMethod>;

/** What changes when a replacement applies; of a card whose number stays, only the date. */
export type Replacement = { expiration_date: string } & Partial<
  Pick<PaymentMethodsTable, 'number_sealed' | 'bin' | 'card_type' | 'card_issuer_name'> &
    Pick<PaymentMethod, 'fingerprint' | 'label' | 'scheme'>
>;

export interface PaymentMethodsTable extends ShownColumns<
  typeof paymentMethodColumns,
  PaymentMethod,
  | 'country'
  | 'created_at'
  | 'currency'
  | 'has_replacement'
  | 'last_replaced_at'
  | 'updated_at'
  | 'last_used_at'
  | 'usage_count'
  | 'cit_last_used_at'
  | 'cit_usage_count'
> {
  buyer_id: string | null;
  bin: string | null;
  card_type: PaymentMethod['details']['card_type'];
  card_issuer_name: string | null;
  /** Sealed by the vault. Null, as `fingerprint` is, when the card cannot be used. */
  number_sealed: string | null;
  redirect_url: string | null;
  /** Why the card verifier failed when the card was stored, for `payments payment-methods show --history`. */
  verification_error: ColumnType<string | null, string | null | undefined, string | null>;
  /** Details that apply later, and when they were found. */
  replacement: ColumnType<Replacement | null, string | null | undefined, string | null>;
  replacement_found_at: MaybeStamp;
}

declare module '../../kit/database/tables.ts' {
  interface Tables {
    payment_methods: PaymentMethodsTable;
  }
}

const shown = presentColumns<PaymentMethod>()(paymentMethodColumns);

export function presentPaymentMethod(
  method: Selectable<PaymentMethodsTable>,
  buyer: BuyerRow | undefined,
  publicUrl: string,
): PaymentMethod {
  const needsApproval = method.status === 'buyer_approval_required';
  const { bin, card_type, card_issuer_name } = method;
  return {
    type: 'payment-method',
    ...shown(method),
    additional_schemes: null,
    approval_target: needsApproval ? 'any' : null,
    approval_url: needsApproval ? publicUrl + approvalPath(method.id) : null,
    buyer: buyer ? presentBuyer(buyer) : null,
    details: { bin, card_type, card_issuer_name },
    method: 'card',
    mode: 'card',
  };
}
