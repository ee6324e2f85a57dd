import type { components } from '../../generated/types.ts';
import type { BuyerRow } from '../store/buyers.ts';
import { buyerColumns } from '../store/tables/buyers.ts';
import { presentColumns } from './columns.ts';

type Buyer = components['schemas']['Buyer'];

const shown = presentColumns<BuyerRow, Pick<Buyer, keyof typeof buyerColumns>>(buyerColumns);

export const presentBuyer = (buyer: BuyerRow): Buyer => ({ type: 'buyer', ...shown(buyer) });
