// The examples at the end of `--help`, by command. They begin as the operator called the command line, to be copied.
import type { Command } from 'commander';
import { readCallName, readCommandConfig } from '../config.ts';

const id = '7099948d-7286-47e4-aad8-b68f7eb44591';

const examples: Record<string, readonly string[]> = {
  '': [
    'payments accounts create default --name Default',
    'payments roles create checkout --allow payment-methods.write,transactions.read',
    'payments keys create --name "Checkout server" --role checkout --out checkout.pem',
    'payments token --scopes transactions.read --key checkout.pem',
    'payments transactions list --status authorization_declined --limit 5',
    'payments webhooks trigger transaction.updated          # (sandbox)',
  ],
  'accounts list': ['payments accounts list'],
  'accounts create': ['payments accounts create shop --name "Second shop"'],
  'accounts delete': ['payments accounts delete shop'],
  'roles list': ['payments roles list'],
  'roles create': [
    "payments roles create reporting --allow transactions.read,api-key-pairs.read --name 'Reporting'",
  ],
  'roles update': ["payments roles update reporting --allow '*.read'"],
  'roles delete': ['payments roles delete reporting'],
  'keys list': ['payments keys list'],
  'keys create': [
    'payments keys create --name "Checkout server" --role checkout --out checkout.pem',
    'payments keys create --name Reports --role reporting --merchant-account default --out reports.pem',
  ],
  'keys deactivate': [`payments keys deactivate ${id}`],
  token: [
    'curl -H "Authorization: Bearer $(payments token --scopes transactions.read --key checkout.pem)" PUBLIC_URL/transactions',
    'payments token --scopes payment-methods.write,transactions.read --key checkout.pem --ttl 600',
  ],
  'buyers list': ['payments buyers list --merchant-account default --search jane@'],
  'buyers show': [`payments buyers show ${id}`],
  'buyers create': ['payments buyers create --external-identifier customer-42 --name "Jane Doe"'],
  'buyers erase': [`payments buyers erase ${id} --dry-run`, `payments buyers erase ${id} --references`],
  'gift-cards list': ['payments gift-cards list --merchant-account default'],
  'gift-cards create': ["echo '9999000125505678 1111' | payments gift-cards create"],
  'payment-methods list': ['payments payment-methods list --buyer customer-42 --status succeeded'],
  'payment-methods show': [`payments payment-methods show ${id}`],
  'payment-methods history': [`payments payment-methods history ${id}`],
  'payment-methods move': [`payments payment-methods move ${id} failed`],
  'payment-methods found-replacement': [
    `payments payment-methods found-replacement ${id} --expiration-date 12/31`,
    `payments payment-methods found-replacement ${id} --expiration-date 12/31 --new-number`,
  ],
  'payment-methods apply-replacements': ['payments payment-methods apply-replacements'],
  'transactions list': [
    'payments transactions list --status authorization_declined authorization_failed --since 24h',
    "payments transactions list --merchant-account '*' --buyer buyer-42 --json",
  ],
  'transactions show': [`payments transactions show ${id}`],
  'transactions history': [`payments transactions history ${id}`],
  'transactions move': [
    `payments transactions move ${id} authorization_declined --reason expired_payment_method`,
  ],
  'import transactions': [
    'payments import transactions transactions.jsonl',
    'payments import transactions transactions.jsonl --dry-run --bad bad.jsonl',
    'zcat transactions.jsonl.gz | payments import transactions - --skip-bad',
  ],
  seed: [
    'payments seed --transactions 1000',
    'payments seed --transactions 1000 --seed 2 --until 2026-11-01',
  ],
  'webhooks list': ['payments webhooks list'],
  'webhooks create': [
    'payments webhooks create https://shop.example.com/webhooks',
    "payments webhooks create https://shop.example.com/webhooks --merchant-account '*' --inactive",
  ],
  'webhooks delete': [`payments webhooks delete ${id}`],
  'webhooks rotate': [`payments webhooks rotate ${id} --keep 24h`],
  'webhooks activate': [`payments webhooks activate ${id}`],
  'webhooks deactivate': [`payments webhooks deactivate ${id}`],
  'webhooks deliveries': [
    'payments webhooks deliveries --limit 20',
    `payments webhooks deliveries --subscription ${id} --failed --since 2h`,
    `payments webhooks deliveries --event ${id} --body`,
  ],
  'webhooks replay': [`payments webhooks replay ${id}`, 'payments webhooks replay --failed --since 24h'],
  'webhooks work': ['payments webhooks work'],
  'webhooks listen': ["payments webhooks listen --merchant-account '*'"],
  'webhooks trigger': [
    'payments webhooks trigger transaction.updated',
    'payments webhooks trigger payment-method.created --merchant-account marketplace',
    `payments webhooks trigger transaction.updated --subscription ${id}`,
  ],
  'secrets rotate': ['payments secrets rotate'],
  'secrets status': ['payments secrets status'],
  'database url': ['payments database url --hold'],
  'database psql': [
    'payments database psql',
    "payments database psql -- -c 'select count(*) from transactions'",
  ],
  audit: ['payments audit --since 24h', 'payments audit --limit 1000 --json'],
  doctor: ['payments doctor'],
  completion: [
    'source <(payments completion bash)                         # in ~/.bashrc',
    'payments completion zsh > "${fpath[1]}/_payments"          # then start a new shell',
  ],
};

export function addExamples(command: Command): void {
  const calls = examples[placeOf(command)];
  if (!calls) return;
  command.addHelpText('after', () =>
    ['', calls.length > 1 ? 'Examples:' : 'Example:', ...calls.map((call) => `  ${asCalled(call)}`)].join(
      '\n',
    ),
  );
}

/** The names of the commands that lead to this one, without that of the program. */
function placeOf(command: Command): string {
  const { parent } = command;
  return parent ? `${placeOf(parent)} ${command.name()}`.trim() : '';
}

const asCalled = (call: string): string =>
  call.replace(/\bpayments (?=[a-z])/, `${readCallName()} `).replace('PUBLIC_URL', publicUrl);

function publicUrl(): string {
  try {
    return readCommandConfig().publicUrl;
  } catch {
    // --help works also where the configuration is wrong.
    return 'http://127.0.0.1:8080';
  }
}
