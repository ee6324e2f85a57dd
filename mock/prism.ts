// Prism's engine produces responses from the contract. Its request validation is off, because its errors differ from the
// server's; the middleware in http/ validates instead.
import { createLogger } from '@stoplight/prism-core';
import { createInstance, getHttpOperationsFromSpec, type IHttpConfig } from '@stoplight/prism-http';
import type { Document } from '../server/kit/contract/load.ts';
import type { MockOperation } from './operations.ts';

export interface ResponseChoice {
  status: number;
  /** The name of an example; the first one if left out. */
  example?: string | undefined;
  /** Instead of an example, values that Prism makes up: with the same seed the same ones. */
  seed?: number | undefined;
}

export interface PrismResponse {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

export type Prism = (operation: MockOperation, choice: ResponseChoice) => Promise<PrismResponse>;

export async function createPrism(document: Document): Promise<Prism> {
  // Prism resolves references in place, so it gets a copy.
  const resources = await getHttpOperationsFromSpec(structuredClone(document));
  const config: IHttpConfig = {
    isProxy: false,
    checkSecurity: false,
    validateRequest: false,
    validateResponse: false,
    errors: false,
    upstreamProxy: undefined,
    mock: { dynamic: false },
  };
  const prism = createInstance(config, { logger: createLogger('prism', { enabled: false }) });
  const ask: Prism = async ({ id, method, path }, { status, example, seed }) => {
    const resource = resources.filter((one) => one.method === method && one.path === path);
    const request = { method: method as 'get', url: { path, query: {} }, headers: {} };
    // Prism's random numbers are those of the process, and go on from the last seed. Each answer therefore brings its own seed,
    // which Prism sets just before it makes the values, without waiting between the two.
    const dynamic = seed === undefined ? { dynamic: false } : { dynamic: true, seed: String(seed) };
    const mock = { ...dynamic, code: status, ...(example === undefined ? {} : { exampleKey: example }) };
    const result = await prism.request(request, resource, { ...config, mock })();
    if (result._tag === 'Left') throw new Error(`Prism has no response for ${id}`, { cause: result.left });
    const { statusCode, headers = {}, body } = result.right.output;
    return { status: statusCode, headers, body };
  };
  // What Prism makes of an example is always the same, so it is asked once.
  const known = new Map<string, Promise<PrismResponse>>();
  return async (operation, choice) => {
    if (choice.seed !== undefined) return ask(operation, choice);
    const key = `${operation.id} ${choice.status} ${choice.example ?? ''}`;
    const asked = known.get(key) ?? ask(operation, choice);
    known.set(key, asked);
    return { ...(await asked) };
  };
}
