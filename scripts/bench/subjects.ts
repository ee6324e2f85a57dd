// Who is measured: the service, and what others would build for the same answer, on the same table.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { bundle } from '../support/bundle.ts';
import type { Checks, PeerConfig } from './peers/peer.ts';
import {
  contractFile,
  prismProgram,
  startPeer,
  startServer,
  type PeerName,
  type Programs,
} from './programs.ts';
import type { BenchedService } from './service.ts';

export interface Running extends AsyncDisposable {
  url: string;
  pid: number;
  /** Its PostgreSQL backends have an application name that begins so. */
  applicationName?: string;
}

export interface Stage {
  programs: Programs;
  service: BenchedService;
  /** What the service answered, by method and path, for subjects that have no such data. */
  answers: Record<string, unknown>;
}

const titles = {
  ours: 'payments service, all checks on',
  bare: 'node:http and pg, no checks',
  fastify: 'Fastify, no checks',
  'fastify-checked': 'Fastify, token cache, Ajv on query and answer',
  express: 'Express, no checks',
  'express-checked': 'Express, express-openapi-validator, token cache',
  'express-verified': 'Express, express-openapi-validator, no token cache',
  prism: 'Prism',
  mock: 'our mock',
};
export type SubjectName = keyof typeof titles;
export const subjectNames = Object.keys(titles) as SubjectName[];
export const titleOf = (name: SubjectName): string => titles[name];

type Start = (stage: Stage) => Promise<Running>;

const peer =
  (program: PeerName, applicationName: string, checks: Checks): Start =>
  async ({ programs, service, answers }) => {
    const { databaseUrl, publicKey } = service;
    const { packages } = programs;
    const started = startPeer<PeerConfig, string>(programs.peer(program));
    const config = { databaseUrl, publicKey, packages, applicationName, contractFile, checks, answers };
    return { ...started, url: await started.ask(config), applicationName };
  };

const starts: Record<SubjectName, Start> = {
  // The stage owns the service, and stops it.
  ours: ({ service: { url, pid } }) =>
    Promise.resolve({
      ...{ url, pid, applicationName: 'payments-service' },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
  bare: peer('bare', 'bench bare', 'none'),
  fastify: peer('fastify', 'bench fastify', 'none'),
  'fastify-checked': peer('fastify', 'bench checked fastify', 'cached'),
  express: peer('express', 'bench express', 'none'),
  'express-checked': peer('express', 'bench checked express', 'cached'),
  'express-verified': peer('express', 'bench verified express', 'verified'),
  prism: async ({ programs, answers }) => startPrism(writeContract(programs, answers)),
  mock: async ({ programs, answers }) => {
    // The mock reads the contract of the folder that it is in.
    const folder = dirname(dirname(writeContract(programs, answers)));
    await bundle(['mock/main.ts'], folder);
    return startMock(join(folder, 'mock/main.js'));
  },
};

export const startSubject = (name: SubjectName, stage: Stage): Promise<Running> => starts[name](stage);

export const startMock = (program: string) =>
  startServer([program, '--port', '0'], /Mock of the payments service: (\S+)/);

export async function startPrism(contract: string) {
  const port = await freePort();
  const args = [prismProgram, 'mock', '--port', String(port), '--host', '127.0.0.1', contract];
  // It prints the address in colours.
  const started = await startServer(args, /Prism is (listening)/);
  return { ...started, url: `http://127.0.0.1:${port}` };
}

/** The contract, whose first example of a page is the page of the service: so the mocks have the same answer to send. */
function writeContract(programs: Programs, answers: Stage['answers']): string {
  const document = JSON.parse(readFileSync(contractFile, 'utf8')) as Contract;
  const media = document.paths['/transactions'].get.responses['200'].content['application/json'];
  media.examples = { page: { value: answers['GET /transactions'] } };
  const file = join(programs.folder, 'with-page/generated/openapi.json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(document));
  return file;
}

interface Contract {
  paths: {
    '/transactions': {
      get: { responses: { '200': { content: { 'application/json': { examples: object } } } } };
    };
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
