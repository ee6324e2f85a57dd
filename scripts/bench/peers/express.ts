// Express with express-openapi-validator, for new cards: it checks the body, and the rest is what the peer with Fastify checks. It
// does not count alike numbers, and logs nothing.
import express, { type ErrorRequestHandler } from 'express';
import * as OpenApiValidator from 'express-openapi-validator';
import { contract } from '../contract.ts';
import { insertRows, makeRows } from './cards.ts';
import { isCard, verifyOnce } from './checks.ts';
import { config, hasScope } from './peer.ts';

const app = express();
app.use((req, res, next) => {
  try {
    if (hasScope(verifyOnce(req.headers.authorization), 'payment-methods', 'write')) next();
    else res.status(403).json({ code: 'forbidden' });
  } catch {
    res.status(401).json({ code: 'unauthorized' });
  }
});
app.use(express.json());
// It compares each request with every path that it knows.
const { '/payment-methods': path } = contract.paths;
const apiSpec = { ...contract, paths: { '/payment-methods': path }, webhooks: undefined };
app.use(
  OpenApiValidator.middleware({
    apiSpec: apiSpec as never,
    validateRequests: true,
    validateResponses: false,
    validateSecurity: false,
  }),
);
app.post('/payment-methods', async (req, res) => {
  const { number, expiration_date } = req.body as { number: string; expiration_date: string };
  const { rows, answer } = await makeRows(number, expiration_date);
  if (!isCard(answer)) {
    res.status(500).json({ errors: isCard.errors });
    return;
  }
  await insertRows(rows);
  res.status(201).json(answer);
});
const onError: ErrorRequestHandler = (error: { status?: number; message: string }, _req, res, _next) => {
  res.status(error.status ?? 500).json({ message: error.message });
};
app.use(onError);
app.listen(config.port, '127.0.0.1');
