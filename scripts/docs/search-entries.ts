// What the search of the docs finds: the sections of guides, and of the reference every operation, event, parameter and property.
import type { Entry } from './browser/entry.ts';
import type { Contract, Operation, Schema } from './contract.ts';
import type { Guide } from './guides.ts';
import { addresses } from './links.ts';
import type { Rendered } from './markdown.ts';

/** Those who integrate search most, and those who build or run the service know where their guide is. */
const weights = {
  Guides: 4,
  operation: 3,
  field: 1.5,
  event: 1,
  Build: 1,
  Operate: 0.3,
  Contribute: 0.2,
  last: 0.05,
};

/** They mention everything, and explain nothing. */
const last = new Set(['benchmarks', 'changelog']);

/** What readers call the subject of a guide, or of a section of it. */
const keywords: Record<string, string> = {
  'getting-started': 'curl quickstart first call hello base URL',
  'getting-started#what-this-api-does-not-have':
    'get transaction by ID read one retrieve a card delete remove update charge capture void cancel refund refunds a payment',
  authentication: 'authenticate auth JWT token access token sign bearer kid API key private key login',
  'authentication#claims': 'how long valid lifetime expiry',
  'authentication#signing-a-token': 'Python generate create',
  'authentication#scopes': 'permissions',
  'merchant-accounts': 'tenant multiple accounts',
  'amounts-times-and-null#times': 'timezone time zone UTC offset',
  'amounts-times-and-null':
    'money currency cents decimals minor units zero-decimal JPY dates timestamps null nullable empty',
  pages: 'pagination paginate paging page through next page cursor limit offset',
  'pages#loop-over-all-pages': 'Python page through all iterate iterator every page fetch all generator',
  'pages#filters':
    'date filter filter by date date range created_at since until between last week yesterday buyer',
  errors: 'error codes status codes validation',
  'errors#409': 'conflict',
  'errors#401-and-403': 'invalid expired wrong rejected insufficient missing permission denied',
  'errors#x-request-id': 'request ID correlation ID trace ID support',
  idempotency:
    'idempotent retry retry safely retry a request retry a write retrying duplicate timeout repeat',
  'rate-limits': 'throttle throttling quota 429 Retry-After',
  webhooks: 'callback notification push events receiver endpoint',
  'webhooks#retries': 'webhook redelivery backoff schedule attempts failed delivery switched off',
  'webhooks#checking-a-signature': 'Python verify HMAC secret',
  sandbox:
    'test card test cards test values sandbox values test numbers testing 4111 4111111111111111 declined gift card PIN 4242 3ds 3-D Secure approval simulate simulator',
  versioning: 'deprecation breaking change sunset API version',
  'going-live': 'production live checklist',
  'going-live#your-key-pair': 'private key secret handover',
  'going-live#what-changes': 'environment URL base URL production URL sandbox URL address host',
  'receive-events': 'localhost webhook receiver',
  client: 'SDK library TypeScript React npm mock',
};

type Page = Rendered & { guide: Guide };

export function guideEntries(pages: Page[]): Entry[] {
  const entries = pages.flatMap(({ guide, title, sections }) =>
    sections.map(({ id, heading, text }) => {
      const isTop = !heading || heading === title;
      const key = isTop ? guide.slug : `${guide.slug}#${id}`;
      return { key, guide, title: heading || title, place: isTop ? 'Guide' : title, text };
    }),
  );
  const unknown = Object.keys(keywords).filter((wanted) => !entries.some(({ key }) => key === wanted));
  if (unknown.length > 0) throw new Error(`Search keywords for what is no guide: ${unknown.join(', ')}`);
  return entries.map(({ key, guide, title, place, text }) => {
    const [slug = '', anchor] = key.split('#');
    return {
      title,
      place,
      href: `guides/${slug}.html${anchor === undefined ? '' : `#${anchor}`}`,
      text,
      keywords: keywords[key],
      weight: weightOf(guide),
    };
  });
}

const weightOf = ({ slug, group }: Guide) =>
  last.has(slug) || group === 'Decisions' ? weights.last : weights[group];

export function referenceEntries(contract: Contract): Entry[] {
  const found = addresses(contract);
  const entries = [contract.paths, contract.webhooks].flatMap((items) =>
    Object.entries(items).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, operation]) => {
        const hash = found[`#operation/${operation.operationId.toLowerCase()}`] ?? '';
        const href = `reference.html${hash}`;
        const isEvent = items === contract.webhooks;
        const { summary, description = '', operationId } = operation;
        return [
          {
            title: summary,
            place: isEvent ? path : `${method.toUpperCase()} ${path}`,
            href,
            text: `${operationId} ${description}${isEvent ? '' : ' Samples: curl, TypeScript, Python.'}`,
            // Readers write `payment_method.created` too.
            keywords: path.includes('-') && isEvent ? path.replaceAll('-', '_') : undefined,
            weight: isEvent ? weights.event : weights.operation,
          },
          ...fields(contract, operation, `${href}#${hash.slice(2)}/`).map((field) => ({
            ...field,
            place: summary,
            weight: weights.field,
          })),
        ];
      }),
    ),
  );
  return entries.map((entry) => ({ ...entry, text: plain(entry.text) }));
}

/** Without the signs of Markdown, and of its tables. */
const plain = (markdown: string) =>
  markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll(/^\|[-|]+\|$/gm, '')
    .replaceAll(/^\| *| *\|$/gm, '')
    .replaceAll(' | ', ' · ')
    .replaceAll(/\s+/g, ' ');

type Field = Pick<Entry, 'title' | 'href' | 'text'>;

/** The addresses are those of Redoc; a test opens some of them. */
function fields(
  contract: Contract,
  { parameters = [], requestBody, responses }: Operation,
  href: string,
): Field[] {
  const given = parameters.map((one) => {
    const { name, in: where, description = '' } = resolve(contract, one) as Parameter;
    const place = where === 'header' ? 'headers' : where;
    return {
      title: name,
      href: `${href}t=request&in=${place}&path=${name.toLowerCase()}`,
      text: description,
    };
  });
  const body = (resolve(contract, requestBody) as Body | undefined)?.content?.['application/json']?.schema;
  const [status, success] = Object.entries(responses ?? {}).find(([code]) => code.startsWith('2')) ?? [];
  const answer = (resolve(contract, success) as Body | undefined)?.content?.['application/json']?.schema;
  return [
    ...given,
    ...properties(contract, body, `${href}t=request&path=`),
    ...properties(contract, answer, `${href}t=response&c=${status ?? ''}&path=`),
  ];
}

interface Parameter {
  name: string;
  in: string;
  description?: string;
}
interface Body {
  content?: Record<string, { schema?: Schema }>;
}

/** Of a list also those of its items. */
function properties(contract: Contract, given: Schema | undefined, href: string, prefix = ''): Field[] {
  const schema = resolve(contract, given) as Schema | undefined;
  return Object.entries(schema?.properties ?? {}).flatMap(([name, value]) => {
    const property = resolve(contract, value) as Schema;
    const description = value.description ?? property.description ?? '';
    const items =
      prefix === '' && property.items ? properties(contract, property.items, href, `${name}[]/`) : [];
    return [{ title: name, href: `${href}${prefix}${name}`, text: description }, ...items];
  });
}

function resolve(contract: Contract, value: unknown): unknown {
  const { $ref } = (value ?? {}) as { $ref?: string };
  if ($ref === undefined) return value;
  const target = $ref
    .slice(2)
    .split('/')
    .reduce<unknown>((node, key) => (node as Record<string, unknown>)[key.replaceAll('~1', '/')], contract);
  return resolve(contract, target);
}
