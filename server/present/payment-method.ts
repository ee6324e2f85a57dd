// A payment method and its buyer as the API shows them: in answers, and in events.
import type { components } from '../../generated/types.ts';

type PaymentMethod = components['schemas']['PaymentMethod'];
type Buyer = components['schemas']['Buyer'];

export interface BuyerRecord {
  id: string;
  merchant_account_id: string;
  external_identifier: string | null;
  display_name: string | null;
  account_number: string | null;
  billing_details: object | null;
  created_at: Date;
  updated_at: Date;
}

export interface PaymentMethodRecord {
  id: string;
  merchant_account_id: string;
  external_identifier: string | null;
  status: PaymentMethod['status'];
  scheme: string | null;
  country: string | null;
  currency: string | null;
  bin: string | null;
  card_type: string | null;
  card_issuer_name: string | null;
  expiration_date: string | null;
  label: string | null;
  fingerprint: string | null;
  has_replacement: boolean;
  last_replaced_at: Date | null;
  last_used_at: Date | null;
  usage_count: number;
  cit_last_used_at: Date | null;
  cit_usage_count: number;
  created_at: Date;
  updated_at: Date;
}

export const approvalPath = (id: string): string => `/sandbox/approvals/${id}`;

const iso = (time: Date | null) => time && time.toISOString();

export function presentBuyer(buyer: BuyerRecord): Buyer {
  return {
    type: 'buyer',
    id: buyer.id,
    billing_details: buyer.billing_details as Buyer['billing_details'],
    created_at: buyer.created_at.toISOString(),
    display_name: buyer.display_name,
    external_identifier: buyer.external_identifier,
    merchant_account_id: buyer.merchant_account_id,
    updated_at: buyer.updated_at.toISOString(),
    account_number: buyer.account_number,
  };
}

export function presentPaymentMethod(
  method: PaymentMethodRecord,
  buyer: BuyerRecord | undefined,
  publicUrl: string,
): PaymentMethod {
  const waits = method.status === 'buyer_approval_required';
  return {
    type: 'payment-method',
    id: method.id,
    additional_schemes: null,
    approval_target: waits ? 'any' : null,
    approval_url: waits ? publicUrl + approvalPath(method.id) : null,
    buyer: buyer ? presentBuyer(buyer) : null,
    country: method.country,
    created_at: method.created_at.toISOString(),
    currency: method.currency,
    details: {
      bin: method.bin,
      card_type: method.card_type as PaymentMethod['details']['card_type'],
      card_issuer_name: method.card_issuer_name,
    },
    expiration_date: method.expiration_date,
    external_identifier: method.external_identifier,
    has_replacement: method.has_replacement,
    label: method.label,
    last_replaced_at: iso(method.last_replaced_at),
    merchant_account_id: method.merchant_account_id,
    method: 'card',
    mode: 'card',
    scheme: method.scheme as PaymentMethod['scheme'],
    status: method.status,
    updated_at: method.updated_at.toISOString(),
    fingerprint: method.fingerprint,
    last_used_at: iso(method.last_used_at),
    usage_count: method.usage_count,
    cit_last_used_at: iso(method.cit_last_used_at),
    cit_usage_count: method.cit_usage_count,
  };
}
