// Adds what only the docs page needs: a logo, a download link, and a curl command for each operation without a body. The
// contract that readers download stays unchanged.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Operation {
  operationId: string;
  tags: [string];
  summary: string;
  security?: Record<string, string[]>[];
  requestBody?: unknown;
  'x-codeSamples'?: { lang: string; source: string }[];
}

export interface Contract {
  info: { title: string; summary: string; 'x-logo'?: { url: string; altText: string; href: string } };
  externalDocs?: { url: string; description: string };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Record<string, Operation>>;
}

/** Not validated here: `npm run generate` lints the contract before it writes the bundle. */
export const parseContract = (text: string) => JSON.parse(text) as Contract;

export const logo = () =>
  `data:image/svg+xml;base64,${readFileSync(join(import.meta.dirname, 'logo.svg')).toString('base64')}`;

export function forReaders(contract: Contract): Contract {
  const shown = structuredClone(contract);
  shown.info['x-logo'] = { url: logo(), altText: shown.info.title, href: '#/' };
  // Redoc's own download button also adds buttons that open the contract in third-party AI assistants.
  shown.externalDocs = { url: 'openapi.json', description: 'Download this contract (OpenAPI 3.1, JSON)' };
  for (const [path, item] of Object.entries(shown.paths))
    for (const [method, operation] of Object.entries(item))
      // With a body Redoc shows a selector of the named examples, which a fixed command would contradict.
      if (!operation.requestBody)
        operation['x-codeSamples'] = [{ lang: 'curl', source: curl(contract, method, path) }];
  return shown;
}

function curl(contract: Contract, method: string, path: string): string {
  // The local server is the only URL without variables, so the command works unedited.
  const server = contract.servers.find(({ url }) => !url.includes('{'))?.url ?? '';
  const verb = method === 'get' ? '' : `-X ${method.toUpperCase()} `;
  return `curl ${verb}'${server}${path}' \\\n  -H "Authorization: Bearer $TOKEN"`;
}
