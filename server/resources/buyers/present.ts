import type { components } from '../../../generated/types.ts';
import { presentColumns } from '../../database/columns.ts';
import type { BuyerRow } from './queries.ts';
import { buyerColumns } from './table.ts';

type Buyer = components['schemas']['Buyer'];

const shown = presentColumns<BuyerRow, Pick<Buyer, keyof typeof buyerColumns>>(buyerColumns);

export const presentBuyer = (buyer: BuyerRow): Buyer => ({ type: 'buyer', ...shown(buyer) });
