import type { components } from '../../../generated/types.ts';
import { presentColumns } from '../../database/columns.ts';
import { presentBuyer } from '../buyers/present.ts';
import type { BuyerRow } from '../buyers/queries.ts';
import type { PaymentMethodRow } from './queries.ts';
import { approvalPath } from './rules.ts';
import { paymentMethodColumns } from './table.ts';

type PaymentMethod = components['schemas']['PaymentMethod'];

const shown = presentColumns<PaymentMethodRow, Pick<PaymentMethod, keyof typeof paymentMethodColumns>>(
  paymentMethodColumns,
);

export function presentPaymentMethod(
  method: PaymentMethodRow,
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
