// Prism's engine: it makes the answers out of the contract. It judges nothing (see http/), because it would refuse in other
// words, and for other reasons, than the server.
import { createLogger } from '@stoplight/prism-core';
import { createInstance, getHttpOperationsFromSpec, type IHttpConfig } from '@stoplight/prism-http';
import type { Document } from '../server/contract/load.ts';
import type { MockOperation } from './operations.ts';

export interface Wanted {
  status: number;
  /** The first one when it is left out. */
  example?: string | undefined;
  /** Made up from the schema instead. */
  dynamic?: boolean;
}

export interface Made {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

export type Prism = (operation: MockOperation, wanted: Wanted) => Promise<Made>;

export async function createPrism(document: Document): Promise<Prism> {
  // It resolves references in place.
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
  return async ({ id, method, path }, { status, example, dynamic = false }) => {
    const resource = resources.filter((one) => one.method === method && one.path === path);
    const request = { method: method as 'get', url: { path, query: {} }, headers: {} };
    const mock = { dynamic, code: status, ...(example === undefined ? {} : { exampleKey: example }) };
    const result = await prism.request(request, resource, { ...config, mock })();
    if (result._tag === 'Left') throw new Error(`Prism has no answer for ${id}`, { cause: result.left });
    const { statusCode, headers = {}, body } = result.right.output;
    return { status: statusCode, headers, body };
  };
}
