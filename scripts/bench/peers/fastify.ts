// Fastify with the checks of the service: the token (verified once) and its scope, and by Ajv what is sent and what is answered. It
// also logs a line per request.
import fastify, { LogController } from 'fastify';
import { contract } from '../contract.ts';
import { insertRows, isWithinLimit, makeRows } from './cards.ts';
import { ajv, createAjv, isCard, isPage, verifyOnce } from './checks.ts';
import { config, hasScope, listTransactions } from './peer.ts';

/** The query parameters of the contract. */
const parameters = contract.paths['/transactions'].get.parameters.flatMap(({ $ref }) => {
  const parameter = contract.components.parameters[$ref.split('/').at(-1) ?? ''];
  return parameter?.in === 'query' ? [[parameter.name, { $ref: `contract${$ref}/schema` }] as const] : [];
});
const properties = Object.fromEntries(parameters);
const querystring = { type: 'object', additionalProperties: false, properties };

// One line per request, as the service has it: Fastify by itself writes two.
const app = fastify({ logger: true, logController: new LogController({ disableRequestLogging: true }) });
app.addHook('onResponse', ({ method, routeOptions, log }, { statusCode, elapsedTime }, done) => {
  log.info({ method, path: routeOptions.url, status: statusCode, ms: elapsedTime });
  done();
});

// As Fastify does by itself, with the draft of JSON Schema that the contract has.
const queryAjv = createAjv({ coerceTypes: 'array', useDefaults: true });
app.setValidatorCompiler(({ schema, httpPart }) =>
  (httpPart === 'body' ? ajv : queryAjv).compile(schema as object),
);
app.addHook('onRequest', async ({ method, headers }, reply) => {
  try {
    const claims = verifyOnce(headers.authorization);
    const isAllowed =
      method === 'POST'
        ? hasScope(claims, 'payment-methods', 'write')
        : hasScope(claims, 'transactions', 'read');
    if (!isAllowed) await reply.code(403).send({ code: 'forbidden' });
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
app.post<{ Body: { number: string; expiration_date: string } }>(
  '/payment-methods',
  { schema: { body: { $ref: 'contract#/components/schemas/PaymentMethodCreate' } } },
  async ({ body }, reply) => {
    if (!(await isWithinLimit(body.number))) return reply.code(429).send({ code: 'too_many_requests' });
    const { rows, answer } = await makeRows(body.number, body.expiration_date);
    if (!isCard(answer)) return reply.code(500).send({ errors: isCard.errors });
    await insertRows(rows);
    return reply.code(201).send(answer);
  },
);
await app.listen({ port: config.port, host: '127.0.0.1' });
