// How amounts of transactions are written, and which status may follow which.

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

/** Each status with those that may follow it. */
export const transactionMoves = {
  processing: [
    'buyer_approval_pending',
    'authorization_succeeded',
    'authorization_failed',
    'authorization_declined',
  ],
  buyer_approval_pending: [
    'processing',
    'authorization_succeeded',
    'authorization_failed',
    'authorization_declined',
  ],
  authorization_succeeded: [
    'capture_pending',
    'capture_succeeded',
    'authorization_void_pending',
    'authorization_voided',
  ],
  capture_pending: ['capture_succeeded', 'authorization_succeeded'],
  authorization_void_pending: ['authorization_voided', 'authorization_succeeded'],
  authorization_failed: [],
  authorization_declined: [],
  capture_succeeded: [],
  authorization_voided: [],
} as const satisfies Record<string, readonly string[]>;

export type TransactionStatus = keyof typeof transactionMoves;
