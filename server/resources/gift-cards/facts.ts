import { plain, type Facts } from '../../kit/maintenance/facts.ts';

export const giftCards = {
  ...plain,
  key: { id: 'uuid' },
  isByAccount: true,
  sealed: { number_sealed: 'gift-card-number', pin_sealed: 'gift-card-pin' },
  // Bearer cards: no record says who has one. `payments gift-cards erase` deletes them.
  erasure: 'kept',
  placeholder: {
    idColumn: 'id',
    row: { number_sealed: '', pin_sealed: '', bin: '', sub_bin: '', last4: '' },
  },
} as const satisfies Facts<'gift_cards'>;
