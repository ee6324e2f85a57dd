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

interface Contract {
  components: { securitySchemes: object };
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
  // Of its reference only the buttons are used, and hidden: see style.css. The page has a list of its own.
  showSidebar: false,
  hideDarkModeToggle: true,
  hideSearch: true,
  hideModels: true,
};

addEventListener('DOMContentLoaded', () => {
  nameFields();
  const token = getToken();
  // By then Scalar is loaded, too.
  addEventListener('load', () => {
    mount(token).catch(() => {
      isLost = true;
      openForm();
    });
  });
  for (const button of operationButtons())
    button.addEventListener('click', () => {
      choose(operationOf(button));
    });
  // Links name an operation, whose form then opens: `/console/#listTransactions`. Scalar's own addresses have its tag before it.
  const wanted = location.hash.split(/[#/]/).at(-1);
  if (operationButtons().some((button) => operationOf(button) === wanted)) choose(wanted);
});

const operationButtons = () => [...document.querySelectorAll<HTMLElement>('[data-operation]')];
const operationOf = (button: HTMLElement) => button.dataset.operation;

async function mount(getting: Promise<string | undefined>): Promise<void> {
  const contract = JSON.parse(find('#console').dataset.contract ?? '') as Contract;
  const [scheme = ''] = Object.keys(contract.components.securitySchemes);
  const token = await getting;
  const options = () => ({
    ...nothingElsewhere,
    ...look,
    // Calls go to this server.
    content: { ...contract, servers: [{ url: location.origin }] },
    generateOperationSlug: ({ operationId }: { operationId: string }) => operationId,
    forceDarkModeState: document.documentElement.classList.contains('dark') ? 'dark' : 'light',
    authentication: { preferredSecurityScheme: scheme, securitySchemes: { [scheme]: { token } } },
  });
  const shown = Scalar.createApiReference('#console', options());
  new MutationObserver(() => {
    shown.updateConfiguration(options());
  }).observe(document.documentElement, { attributeFilter: ['class'] });
}

/** The operation that was chosen last, until its form is open. */
let chosen: string | undefined;

/** There will be no form: its script or the token did not come. */
let isLost = false;

function choose(operationId: string | undefined): void {
  chosen = operationId;
  openForm();
}

/** Clicks Scalar's button for the operation, as soon as Scalar has drawn it. */
function openForm(): void {
  if (isLost) find('#opening').textContent = 'The form could not be loaded. Reload this page.';
  if (isLost || chosen === undefined) return;
  const button = document.querySelector<HTMLElement>(`section[id$="/${chosen}"] .show-api-client-button`);
  find('#opening').textContent = button ? '' : 'Opening …';
  if (button) {
    chosen = undefined;
    button.click();
  } else setTimeout(openForm, 100);
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
