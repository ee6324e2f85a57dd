// Fastify, without checks, or with a token, its own validation of the query (Ajv) and Ajv on the answer.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { runPeer, type PeerConfig } from './peer.ts';
import { createTokenCheck } from './token.ts';
import { createListTransactions, openPool, type PageQuery } from './transactions.ts';

/** The part of Fastify's interface that is used here; its types are not installed in the project. */
interface Reply {
  code: (status: number) => Reply;
  send: (body: unknown) => unknown;
}
interface Request<Query> {
  headers: { authorization?: string };
  query: Query;
}
interface App {
  get: <Query>(
    path: string,
    options: object,
    handler: (request: Request<Query>, reply: Reply) => unknown,
  ) => void;
  listen: (options: object) => Promise<string>;
}

interface Parameter {
  name: string;
  in: string;
  schema: object;
}
interface Contract {
  paths: { '/transactions': { get: { parameters: { $ref: string }[] } } };
  components: { parameters: Record<string, Parameter>; schemas: Record<string, object> };
}

runPeer(async (config: PeerConfig) => {
  const fastify = createRequire(join(config.packages, 'package.json'))('fastify') as (o: object) => App;
  const app = fastify({ ajv: { customOptions: { strict: false } } });
  const listTransactions = createListTransactions(openPool(config), config.contractFile);
  const contract = JSON.parse(readFileSync(config.contractFile, 'utf8')) as Contract;
  if (config.checks === 'none') {
    // Without a schema all values are text.
    app.get<Record<string, string | undefined>>('/transactions', {}, ({ query }) => {
      const { limit = 20, cursor, amount_gte } = query;
      return listTransactions({
        limit: Number(limit),
        ...(cursor === undefined ? {} : { cursor }),
        ...(amount_gte === undefined ? {} : { amount_gte: Number(amount_gte) }),
      });
    });
    return app.listen({ port: 0, host: '127.0.0.1' });
  }
  const checkToken = createTokenCheck(config.publicKey, { cache: config.checks === 'cached' });
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  ajv.addSchema({ $id: 'contract', ...contract });
  const isPage = ajv.compile({ $ref: 'contract#/components/schemas/TransactionCollection' });
  app.get<PageQuery>(
    '/transactions',
    {
      schema: { querystring: querySchema(contract) },
      onRequest: (request: Request<unknown>, reply: Reply, next: () => void) => {
        try {
          checkToken(request.headers.authorization);
          next();
        } catch {
          reply.code(401).send({ code: 'unauthorized' });
        }
      },
    },
    async ({ query }, reply) => {
      const page = await listTransactions(query);
      return isPage(page) ? page : reply.code(500).send({ errors: isPage.errors });
    },
  );
  return app.listen({ port: 0, host: '127.0.0.1' });
});

/** The query parameters of the contract as one schema, with the schemas that they refer to in it. */
function querySchema({ paths, components }: Contract): object {
  const parameters = paths['/transactions'].get.parameters.flatMap(({ $ref }) => {
    const parameter = components.parameters[$ref.split('/').at(-1) ?? ''];
    return parameter?.in === 'query' ? [parameter] : [];
  });
  const local = (schema: object): unknown =>
    JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', '#/definitions/'));
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, local(schema)])),
    definitions: local(components.schemas),
  };
}
