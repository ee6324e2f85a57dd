// How many decimals a currency has by ISO 4217. Not from Intl: CLDR has fewer for HUF, COP, IQD and others, because prices there
// are shown so.
const exceptions: [decimals: number, currencies: string][] = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
];

const decimalsOf = (currency: string) =>
  exceptions.find(([, currencies]) => currencies.split(' ').includes(currency))?.[0] ?? 2;

/** `12.99 EUR` for 1299: amounts are in the smallest unit of the currency. As text, because division would round. */
export function amountText(amount: number, currency: string): string {
  const decimals = decimalsOf(currency);
  const text = String(amount).padStart(decimals + 1, '0');
  const whole = text.slice(0, text.length - decimals);
  return `${decimals === 0 ? whole : `${whole}.${text.slice(-decimals)}`} ${currency}`;
}
