// The console: Scalar with the contract of the server that this page comes from. It knows no operation by name.
import { programName } from '../../../generated/operations.ts';
import { copyOnClick } from '../../docs/browser/copy.ts';
import { find } from '../../docs/browser/elements.ts';
import { nameFields } from './scalar-names.ts';

declare const Scalar: {
  createApiReference: (
    selector: string,
    options: object,
  ) => { updateConfiguration: (options: object) => void };
};

interface Operation {
  operationId: string;
  tags: [string];
}

interface Contract {
  info: object;
  paths: Record<string, Record<string, Operation>>;
  components: { securitySchemes?: object };
}

/** Scalar offers a proxy, an assistant, fonts and an account on other hosts; nothing leaves this server. */
const nothingElsewhere = {
  agent: { disabled: true },
  documentDownloadType: 'none',
  hideClientButton: true,
  mcp: { disabled: true },
  proxyUrl: '',
  showDeveloperTools: 'never',
  telemetry: false,
  withDefaultFonts: false,
};

const look = {
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  defaultOpenAllTags: true,
  // Our header has both.
  hideDarkModeToggle: true,
  hideSearch: true,
  hideModels: true,
};

addEventListener('DOMContentLoaded', () => void start());

async function start(): Promise<void> {
  nameFields();
  const text = await (await fetch('/openapi.json')).text();
  // Links to sections and operations lead nowhere here.
  const contract = JSON.parse(text.replaceAll(/\[([^\]]+)\]\(#[^)]*\)/g, '$1')) as Contract;
  const wanted = wantedOperation(contract);
  const [scheme = ''] = Object.keys(contract.components.securitySchemes ?? {});
  const token = await getToken();
  const options = () => ({
    ...nothingElsewhere,
    ...look,
    // Calls go to this server. Nobody calls webhooks, and the docs have the introduction.
    content: {
      ...contract,
      info: { ...contract.info, description: '' },
      servers: [{ url: location.origin }],
      webhooks: {},
    },
    generateOperationSlug: ({ operationId }: Operation) => operationId,
    forceDarkModeState: document.documentElement.classList.contains('dark') ? 'dark' : 'light',
    authentication: { preferredSecurityScheme: scheme, securitySchemes: { [scheme]: { token } } },
  });
  const shown = Scalar.createApiReference('#console', options());
  if (wanted) openClient(wanted);
  new MutationObserver(() => {
    shown.updateConfiguration(options());
  }).observe(document.documentElement, { attributeFilter: ['class'] });
}

/**
 * Links name an operation, which is then open, ready to send: `/console/#listTransactions`. Scalar's own addresses have its tag
 * before it. Otherwise nothing covers the list.
 */
function wantedOperation({ paths }: Contract): string | undefined {
  const id = location.hash.split(/[#/]/).at(-1);
  const all = Object.values(paths).flatMap((item) => Object.values(item));
  const operation = all.find(({ operationId }) => operationId === id);
  if (!operation) return undefined;
  const tag = operation.tags[0].toLowerCase().replaceAll(' ', '-');
  history.replaceState(history.state, '', `#tag/${tag}/${operation.operationId}`);
  return operation.operationId;
}

/** Clicks the button of the operation as soon as Scalar has drawn it. */
function openClient(operationId: string): void {
  const button = document.querySelector<HTMLElement>(
    `section[id$="/${operationId}"] .show-api-client-button`,
  );
  if (button) button.click();
  else setTimeout(openClient, 100, operationId);
}

/** For every call, and to copy. It lives an hour; a page that is loaded again has a new one. */
async function getToken(): Promise<string | undefined> {
  const response = await fetch('/sandbox/token', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  const { token } = (await response.json()) as { token?: string };
  const state = find('#token-state');
  if (token === undefined) {
    state.textContent = `The server gives tokens only to programs of its own user. Run ${programName} token, and paste its token.`;
    return undefined;
  }
  const time = new Date(Date.now() + 3_600_000).toLocaleTimeString([], { timeStyle: 'short' });
  state.textContent = `Calls carry a token with every scope, until ${time}. Reload for a new one.`;
  const button = find('#copy-token');
  button.hidden = false;
  copyOnClick(button, () => `export TOKEN=${token}`);
  return token;
}
