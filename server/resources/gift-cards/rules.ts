// Facts that follow from a gift card number alone.

export const giftCardBin = (number: string) => ({
  bin: number.slice(0, 6),
  sub_bin: number.slice(6, 9),
  last4: number.slice(-4),
});
