// Editors complete, explain and check the files of openapi/ by the schemas that .vscode/settings.json names: asked of the
// language server that VS Code, Neovim and others use for YAML.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isObject } from '../../../scripts/diff/change.ts';
import { installed } from '../../support/installed.ts';
import { root } from '../../support/processes.ts';

interface Message {
  id?: number;
  method?: string;
  params?: { uri?: string; diagnostics?: { message: string }[]; items?: { section: string }[] };
  result?: unknown;
}

interface Hover {
  contents: { value: string };
}

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const uriOf = (file: string) => pathToFileURL(join(root, file)).href;

/** The settings of a section, such as `yaml`, as an editor sends them. */
function section(name: string): object {
  const settings = JSON.parse(read('.vscode/settings.json')) as Record<string, unknown>;
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(settings)) {
    const [first, ...path] = key.split('.');
    if (first !== name) continue;
    const last = path.pop() ?? '';
    let place = result;
    for (const step of path) place = (place[step] ??= {}) as Record<string, unknown>;
    place[last] = value;
  }
  return result;
}

/** The Language Server Protocol over standard input and output. */
class Editor {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #answers = new Map<number, (result: unknown) => void>();
  readonly #diagnostics = new Map<string, (messages: string[]) => void>();
  #input = Buffer.alloc(0);
  #lastId = 0;
  #version = 0;

  constructor(server: string) {
    this.#process = spawn(process.execPath, [server, '--stdio']);
    this.#process.stdout.on('data', (chunk: Buffer) => {
      this.#input = Buffer.concat([this.#input, chunk]);
      this.#readMessages();
    });
  }

  async start(): Promise<void> {
    const uri = pathToFileURL(root).href;
    const capabilities = { workspace: { configuration: true }, textDocument: { publishDiagnostics: {} } };
    const workspaceFolders = [{ uri, name: 'project' }];
    await this.ask('initialize', { processId: process.pid, rootUri: uri, workspaceFolders, capabilities });
    this.#send({ method: 'initialized', params: {} });
  }

  stop(): void {
    this.#process.kill();
  }

  /** Opens a file with this text, and resolves to what is wrong with it. */
  open(file: string, text: string): Promise<string[]> {
    const uri = uriOf(file);
    return new Promise((resolve) => {
      this.#diagnostics.set(uri, resolve);
      this.#version += 1;
      const textDocument = { uri, languageId: 'yaml', version: this.#version, text };
      this.#send({ method: 'textDocument/didOpen', params: { textDocument } });
    });
  }

  ask(method: string, params: object): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
      this.#send({ id, method, params });
    });
  }

  #send(message: object): void {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.#process.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  #readMessages(): void {
    for (;;) {
      const end = this.#input.indexOf('\r\n\r\n');
      const length = Number(/Content-Length: (\d+)/.exec(this.#input.toString('utf8', 0, end))?.[1]);
      if (end === -1 || this.#input.length < end + 4 + length) return;
      const text = this.#input.toString('utf8', end + 4, end + 4 + length);
      this.#input = this.#input.subarray(end + 4 + length);
      this.#receive(JSON.parse(text) as Message);
    }
  }

  #receive({ id, method, params, result }: Message): void {
    if (method === 'workspace/configuration')
      this.#send({ id, result: params?.items?.map((item) => section(item.section)) });
    else if (method === 'textDocument/publishDiagnostics')
      this.#diagnostics.get(params?.uri ?? '')?.((params?.diagnostics ?? []).map(({ message }) => message));
    else if (method !== undefined && id !== undefined) this.#send({ id, result: null });
    else if (id !== undefined) this.#answers.get(id)?.(result);
  }
}

interface Kind {
  file: string;
  /** A keyword of the file, and what its explanation says. */
  keyword: string;
  explains: string;
  /** What is proposed beside it. */
  proposes?: string;
}

const components = 'openapi/components';
const kinds: Kind[] = [
  {
    file: 'openapi/openapi.yaml',
    keyword: 'servers',
    explains: 'Where the API is served',
    proposes: 'externalDocs',
  },
  {
    file: 'openapi/paths/transactions.yaml',
    keyword: '  operationId',
    explains: 'camelCase',
    proposes: 'x-rate-limit',
  },
  // As Markdown: a description would be shown with its backticks escaped.
  { file: 'openapi/paths/transactions.yaml', keyword: '  x-merchant-scope', explains: '`one`: acts on one' },
  {
    file: 'openapi/webhooks/transaction.created.yaml',
    keyword: '  operationId',
    explains: 'camelCase',
    proposes: 'deprecated',
  },
  {
    file: `${components}/schemas/CardDetails.yaml`,
    keyword: 'additionalProperties',
    explains: 'closes the object',
    proposes: 'minProperties',
  },
  {
    file: `${components}/parameters/Limit.yaml`,
    keyword: 'in',
    explains: 'Where it is in the request',
    proposes: 'deprecated',
  },
  {
    file: `${components}/headers/RetryAfter.yaml`,
    keyword: 'required',
    explains: 'always sent',
    proposes: 'deprecated',
  },
  {
    file: `${components}/responses/NotFound.yaml`,
    keyword: 'content',
    explains: 'application/json only',
    proposes: 'links',
  },
  {
    file: `${components}/examples/PaymentMethodExpiredCard.yaml`,
    keyword: 'summary',
    explains: 'The scenario',
    proposes: 'description',
  },
  {
    file: `${components}/securitySchemes/BearerAuth.yaml`,
    keyword: 'bearerFormat',
    explains: 'such as JWT',
    proposes: 'openIdConnectUrl',
  },
];

describe('the schemas for editors', () => {
  type Definitions = Record<string, { properties?: object }>;
  const load = (file: string) =>
    JSON.parse(readFileSync(createRequire(import.meta.url).resolve(file), 'utf8')) as {
      $defs: Definitions;
      properties: object;
    };
  const { definitions } = JSON.parse(read('.vscode/schemas/openapi.json')) as { definitions: Definitions };
  const known = (name: string) => Object.keys(definitions[name]?.properties ?? {});

  it('know every keyword of OpenAPI 3.1', () => {
    const folder = dirname(createRequire(import.meta.url).resolve('express-openapi-validator'));
    const { $defs, properties } = load(join(folder, 'framework', 'openapi.v3_1.modified.schema.json'));
    expect(known('document')).toEqual(expect.arrayContaining(Object.keys(properties)));
    for (const name of [
      ...['info', 'components', 'path-item', 'operation', 'parameter', 'request-body', 'media-type'],
      ...['encoding', 'response', 'example', 'header', 'tag', 'security-scheme'],
    ]) {
      const own = name.replace(/-(.)/, (_, letter: string) => letter.toUpperCase());
      const keywords = Object.keys($defs[name]?.properties ?? {});
      expect(keywords.length).toBeGreaterThan(1);
      expect([name, known(own)]).toEqual([name, expect.arrayContaining(keywords)]);
    }
  });

  it('know every keyword of JSON Schema', () => {
    for (const part of ['core', 'applicator', 'validation', 'unevaluated', 'meta-data', 'content']) {
      const { properties } = load(`ajv/dist/refs/json-schema-2020-12/meta/${part}.json`);
      expect([part, known('schema')]).toEqual([part, expect.arrayContaining(Object.keys(properties))]);
    }
  });
});

describe('openapi/ in an editor', () => {
  let editor: Editor;
  beforeAll(async () => {
    const server = await installed('yaml-language-server', '1.25.0');
    editor = new Editor(join(server, 'bin/yaml-language-server'));
    await editor.start();
  });
  afterAll(() => {
    editor.stop();
  });

  it('has no warnings in any file', async () => {
    const files = readdirSync(join(root, 'openapi'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.yaml'))
      .map((name) => `openapi/${name}`);
    expect(files.length).toBeGreaterThan(100);
    const faults = await Promise.all(
      files.map(async (file) => [file, ...(await editor.open(file, read(file)))]),
    );
    expect(faults.filter(([, ...messages]) => messages.length > 0)).toEqual([]);
  });

  it('has an example of every folder here', () => {
    const folders = readdirSync(join(root, 'openapi'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.yaml'))
      .map(({ parentPath }) => parentPath.slice(root.length + 1));
    const named = kinds.map(({ file }) => file.replace(/\/[^/]+$/, ''));
    expect(new Set(named)).toEqual(new Set(folders));
  });

  describe.each(kinds)('$file', ({ file, keyword, explains, proposes }) => {
    const lines = read(file).split('\n');
    const line = lines.findIndex((text) => text.startsWith(`${keyword}:`));
    const indent = /^ */.exec(keyword)?.[0] ?? '';
    const at = (position: { line: number; character: number }) => ({
      textDocument: { uri: uriOf(file) },
      position,
    });
    const withLine = (text: string) => [...lines.slice(0, line), text, ...lines.slice(line)].join('\n');

    it('explains a keyword', async () => {
      await editor.open(file, read(file));
      const hover = await editor.ask('textDocument/hover', at({ line, character: indent.length + 1 }));
      expect((hover as Hover).contents.value).toContain(explains);
    });

    it('warns of a misspelt keyword', async () => {
      const [first = '', second = '', ...rest] = keyword.trim();
      const misspelt = `${indent}${second}${first}${rest.join('')}x: 1`;
      expect((await editor.open(file, withLine(misspelt))).join('\n')).toContain(
        `${misspelt.trim().slice(0, -3)} is not allowed`,
      );
    });

    if (proposes === undefined) return;
    it('proposes keywords', async () => {
      await editor.open(file, withLine(indent));
      const found = await editor.ask('textDocument/completion', at({ line, character: indent.length }));
      const items = (isObject(found) ? found.items : found) as { label: string }[];
      expect(items.map(({ label }) => label)).toContain(proposes);
    });
  });
});
