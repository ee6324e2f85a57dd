// The console: Swagger UI with the contract of the server that this page comes from. It knows no operation by name.
import { clientCode, printed } from './client-code.ts';
import { copyOnClick } from './copy.ts';
import { find } from './find.ts';
import { applyKeptMode, connectModeButton } from './mode.ts';

interface Request {
  get: (name: 'url' | 'method' | 'headers' | 'body') => unknown;
}

interface Ui {
  preauthorizeApiKey: (scheme: string, token: string) => unknown;
}

declare const SwaggerUIBundle: (options: object) => Ui;

interface System {
  getComponent: (name: string) => unknown;
  specSelectors: { taggedOperations: () => { size: number } };
  React: { createElement: (component: unknown, props: object | null, ...children: string[]) => unknown };
}

/** Swagger UI warns on the console if the items of a list have a format for which it has no input of its own. */
const textInputs = (system: System) => ({
  components: {
    JsonSchema_string_uuid: (props: object) =>
      system.React.createElement(system.getComponent('JsonSchema_string'), props),
  },
});

/** Maps and lists of Immutable.js, by tag. */
interface Operations {
  size: number;
  filter: (isWanted: (operation: { getIn: (keys: string[]) => string }) => boolean) => Operations;
}
interface Tagged {
  get: (key: 'operations') => Operations;
  set: (key: 'operations', value: Operations) => Tagged;
}
interface AllTagged {
  map: (change: (tagged: Tagged, tag: string) => Tagged) => AllTagged;
  filter: (isWanted: (tagged: Tagged) => boolean) => AllTagged;
}

/** Swagger UI's own filter only knows tags, with their capitals. */
function opsFilter(all: AllTagged, phrase: string): AllTagged {
  const matches = (text: string) => text.toLowerCase().includes(phrase.trim().toLowerCase());
  const wanted = (operations: Operations) =>
    operations.filter((one) =>
      [['operation', 'summary'], ['operation', 'operationId'], ['path'], ['method']].some((keys) =>
        matches(one.getIn(keys)),
      ),
    );
  return all
    .map((tagged, tag) =>
      matches(tag) ? tagged : tagged.set('operations', wanted(tagged.get('operations'))),
    )
    .filter((tagged) => tagged.get('operations').size > 0);
}

/** Swagger UI says that the contract has no operations. */
const noMatch = () => ({
  wrapComponents: {
    operations: (original: unknown, system: System) => (props: object) =>
      system.specSelectors.taggedOperations().size > 0
        ? system.React.createElement(original, props)
        : system.React.createElement('p', null, 'No operation matches.'),
  },
});

/** Swagger UI's own scrolling does not know of the bar that stays at the top; that of the browser does, by scroll-padding-top. */
const belowBar = () => ({
  statePlugins: {
    layout: {
      wrapActions: {
        scrollToElement: () => (element: Element) => {
          element.scrollIntoView();
        },
      },
    },
  },
});

interface Schema {
  $ref?: string;
  /** `integer`, or `integer,null` as text. */
  type?: string | string[];
  items?: Schema;
}

interface Parameter {
  $ref?: string;
  name?: string;
  required?: boolean;
  example?: unknown;
  examples?: unknown;
  schema?: Schema;
}

interface Contract {
  servers: { url: string }[];
  webhooks?: unknown;
  paths: Record<string, Record<string, { parameters?: Parameter[] }>>;
  components: {
    parameters?: Record<string, Parameter>;
    responses?: Record<string, { content?: unknown; headers?: unknown }>;
    securitySchemes?: object;
  };
}

applyKeptMode();

addEventListener('DOMContentLoaded', () => {
  connectModeButton(find('.theme-button'));
  void start();
});

async function start(): Promise<void> {
  const text = await (await fetch('/openapi.json')).text();
  // Links to sections and operations lead to the docs.
  const contract = JSON.parse(
    text.replaceAll(/\]\(#(?=(section|operation|tag)\/)/g, '](/docs/#'),
  ) as Contract;
  const [scheme = ''] = Object.keys(contract.components.securitySchemes ?? {});
  const ui = SwaggerUIBundle({
    spec: callable(contract),
    dom_id: '#console',
    deepLinking: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    docExpansion: 'list',
    filter: true,
    defaultModelsExpandDepth: -1,
    validatorUrl: null,
    requestSnippetsEnabled: true,
    requestSnippets: {
      languages: ['curl_bash', 'payments_client'],
      generators: {
        curl_bash: { title: 'curl', syntax: 'bash' },
        payments_client: { title: 'Client', syntax: 'javascript' },
      },
      defaultExpanded: true,
    },
    plugins: [
      { fn: { requestSnippetGenerator_payments_client: codeOf(contract), opsFilter } },
      textInputs,
      noMatch,
      belowBar,
    ],
  });
  let command = '';
  copyOnClick(find('#copy-token'), () => command);
  const useToken = ({ token, until }: Token) => {
    ui.preauthorizeApiKey(scheme, token);
    command = `export TOKEN=${token}`;
    find('#copy-token').hidden = false;
    const time = new Date(until).toLocaleTimeString([], { timeStyle: 'short' });
    find('#token-state').textContent = `Calls carry a token with every scope, until ${time}.`;
  };
  const kept = keptToken();
  if (kept) useToken(kept);
  find('#get-token').addEventListener('click', () => {
    void getToken().then((token) => {
      if (token === undefined)
        find('#token-state').textContent =
          'The server gives tokens only to programs of its own user. Run payments token, and click Authorize.';
      else useToken(keepToken(token));
    });
  });
}

interface Token {
  token: string;
  until: number;
}

const tokenKey = 'payments.console-token';
const tokenMilliseconds = 3_600_000;

/** For this tab only, until it is closed: a reload, or a link from the docs, needs no new token. */
function keepToken(token: string): Token {
  const kept = { token, until: Date.now() + tokenMilliseconds };
  try {
    sessionStorage.setItem(tokenKey, JSON.stringify(kept));
  } catch {
    // Without storage the token holds for this page.
  }
  return kept;
}

function keptToken(): Token | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(tokenKey) ?? 'null') as Token | null;
    return kept && kept.until > Date.now() ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** Calls go to this server. What is optional stays empty: forty filters with examples would find nothing. */
function callable(contract: Contract): Contract {
  const operations = Object.values(contract.paths).flatMap((item) => Object.values(item));
  const parameters = [
    ...Object.values(contract.components.parameters ?? {}),
    ...operations.flatMap((operation) => operation.parameters ?? []),
  ];
  for (const parameter of parameters)
    if (!parameter.required) {
      delete parameter.example;
      delete parameter.examples;
    }
  // With examples and headers the errors are ten times as high as the operation; the docs have them.
  for (const response of Object.values(contract.components.responses ?? {})) {
    delete response.content;
    delete response.headers;
  }
  contract.servers = [{ url: location.origin }];
  // They come from the server; nobody calls them.
  delete contract.webhooks;
  return contract;
}

async function getToken(): Promise<string | undefined> {
  try {
    const response = await fetch('/sandbox/token', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    return ((await response.json()) as { token?: string }).token;
  } catch {
    return undefined;
  }
}

/** The same call with our client, in which parameters have the types of the contract. */
const codeOf =
  (contract: Contract) =>
  (request: Request): string => {
    const url = new URL(String(request.get('url')));
    const method = String(request.get('method'));
    const types = typesOf(contract, contract.paths[url.pathname]?.[method.toLowerCase()]?.parameters ?? []);
    const query = [...new Set(url.searchParams.keys())].map((name) => {
      const { type = '', item = type } = types.get(name) ?? {};
      const values = url.searchParams
        .getAll(name)
        .map((value) => (/integer|number|boolean/.test(item) ? value : JSON.stringify(value)));
      return `${name}: ${type === 'array' ? `[${values.join(', ')}]` : (values[0] ?? '')}`;
    });
    const body = request.get('body');
    const init = [
      ...(query.length > 0 ? [`  params: { query: { ${query.join(', ')} } },`] : []),
      ...(typeof body === 'string' ? [`  body: ${body.replaceAll('\n', '\n  ')},`] : []),
    ];
    const options = init.length > 0 ? `, {\n${init.join('\n')}\n}` : '';
    return clientCode(url.origin, printed(`${method.toUpperCase()}('${url.pathname}'${options})`));
  };

function typesOf(contract: Contract, parameters: Parameter[]): Map<string, { type: string; item: string }> {
  const resolve = <T extends { $ref?: string }>(value: T): T => {
    if (value.$ref === undefined) return value;
    const keys = value.$ref.slice(2).split('/');
    return resolve(
      keys.reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], contract) as T,
    );
  };
  const typeOf = (schema: Schema = {}): string => String(resolve(schema).type ?? '');
  return new Map(
    parameters.map((parameter) => {
      const { name = '', schema = {} } = resolve(parameter);
      const type = typeOf(schema);
      return [
        name,
        { type: type.includes('array') ? 'array' : type, item: typeOf(resolve(schema).items) || type },
      ];
    }),
  );
}
