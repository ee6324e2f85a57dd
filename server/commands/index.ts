// The commands of payments, beside those that every API has: see cli/main.ts.
export const commands = {
  buyers: ['buyers, the owners of stored cards', () => import('./buyers.ts')],
  'gift-cards': ['stored gift cards', () => import('./gift-cards.ts')],
  'payment-methods': [
    'stored cards: list them, show one, verify them, change their status, replace their details',
    () => import('./payment-methods.ts'),
  ],
  transactions: ['transactions: list them, show one, change their status', () => import('./transactions.ts')],
  import: ['import records from another system', () => import('./import.ts')],
  seed: [
    'create sample transactions, in the sandbox only; the same seed creates the same transactions',
    () => import('./seed.ts'),
  ],
} as const;

/** For --help. */
export const examples = [
  'accounts create default --name Default',
  'roles create checkout --allow payment-methods.write,transactions.read',
  'keys create --name "Checkout server" --role checkout --out checkout.pem',
  'token --scopes transactions.read --key checkout.pem',
  'transactions list --status authorization_declined --limit 5',
  'webhooks trigger transaction.updated          # (sandbox)',
];
