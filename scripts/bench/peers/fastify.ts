// Fastify with the checks of the service: the token (verified once) and its scope, the query and the answer by Ajv.
import formats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fastify from 'fastify';
import { contract } from '../contract.ts';
import { config, listTransactions, mayRead, verify } from './peer.ts';

const createAjv = (options: object) => {
  const ajv = new Ajv2020({ strict: false, ...options });
  formats.default(ajv);
  return ajv.addSchema({ $id: 'contract', ...contract });
};
const isPage = createAjv({}).compile({ $ref: 'contract#/components/schemas/TransactionCollection' });

/** The query parameters of the contract. */
const parameters = contract.paths['/transactions'].get.parameters.flatMap(({ $ref }) => {
  const parameter = contract.components.parameters[$ref.split('/').at(-1) ?? ''];
  return parameter?.in === 'query' ? [[parameter.name, { $ref: `contract${$ref}/schema` }] as const] : [];
});
const properties = Object.fromEntries(parameters);
const querystring = { type: 'object', additionalProperties: false, properties };

const claims = new Map<string, ReturnType<typeof verify>>();
function verifyOnce(authorization = '') {
  const known = claims.get(authorization);
  if (known && known.exp * 1000 > Date.now()) return known;
  const found = verify(authorization);
  claims.set(authorization, found);
  return found;
}

const app = fastify();
// As Fastify does by itself, with the draft of JSON Schema that the contract has.
const queryAjv = createAjv({ coerceTypes: 'array', useDefaults: true });
app.setValidatorCompiler(({ schema }) => queryAjv.compile(schema as object));
app.addHook('onRequest', async ({ headers }, reply) => {
  try {
    if (!mayRead(verifyOnce(headers.authorization))) await reply.code(403).send({ code: 'forbidden' });
  } catch {
    await reply.code(401).send({ code: 'unauthorized' });
  }
});
app.get<{ Querystring: { limit: number } }>(
  '/transactions',
  { schema: { querystring } },
  async ({ query }, reply) => {
    const page = await listTransactions(query.limit);
    return isPage(page) ? page : reply.code(500).send({ errors: isPage.errors });
  },
);
await app.listen({ port: config.port, host: '127.0.0.1' });
