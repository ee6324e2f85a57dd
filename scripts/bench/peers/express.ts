// Express, without checks, or with express-openapi-validator on both sides as its README shows.
import { createServer } from 'node:http';
import express, { type ErrorRequestHandler } from 'express';
import * as OpenApiValidator from 'express-openapi-validator';
import { createInsertCard } from './cards.ts';
import { listenOn, runPeer, type PeerConfig } from './peer.ts';
import { createTokenCheck } from './token.ts';
import { createListTransactions, openPool } from './transactions.ts';

runPeer(async (config: PeerConfig) => {
  const pool = openPool(config);
  const listTransactions = createListTransactions(pool, config.contractFile);
  const app = express();
  app.use(express.json());
  if (config.checks !== 'none') {
    const checkToken = createTokenCheck(config.publicKey, { cache: config.checks === 'cached' });
    app.use(
      OpenApiValidator.middleware({
        apiSpec: config.contractFile,
        validateRequests: true,
        validateResponses: true,
        validateSecurity: {
          handlers: {
            BearerAuth: (req) => {
              checkToken(req.headers.authorization);
              return true;
            },
          },
        },
      }),
    );
  }
  app.get('/transactions', async ({ query }, res) => {
    const { limit = 20, cursor, amount_gte } = query;
    res.json(
      await listTransactions({
        limit: Number(limit),
        ...(typeof cursor === 'string' ? { cursor } : {}),
        ...(amount_gte === undefined ? {} : { amount_gte: Number(amount_gte) }),
      }),
    );
  });
  const insertCard = createInsertCard(pool);
  app.post('/payment-methods', async (_req, res) => {
    const card = config.answers['POST /payment-methods'] as object;
    res.status(201).json({ ...card, id: await insertCard() });
  });
  for (const [call, answer] of Object.entries(config.answers)) {
    const [method, path = '/'] = call.split(' ');
    const handle = (_req: express.Request, res: express.Response) => void res.json(answer);
    if (path === '/transactions' || path === '/payment-methods') continue;
    if (method === 'GET') app.get(path, handle);
    else app.post(path, handle);
  }
  const onError: ErrorRequestHandler = (
    error: { status?: number; message: string; errors?: unknown },
    _req,
    res,
    _next,
  ) => {
    res.status(error.status ?? 500).json({ message: error.message, errors: error.errors });
  };
  app.use(onError);
  return listenOn(createServer(app));
});
