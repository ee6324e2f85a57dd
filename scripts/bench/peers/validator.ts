// Express with express-openapi-validator, as its README shows: requests, answers and tokens are checked each time.
import express, { type ErrorRequestHandler } from 'express';
import * as OpenApiValidator from 'express-openapi-validator';
import { contractFile } from '../contract.ts';
import { config, hasScope, listTransactions, verify } from './peer.ts';

const app = express();
app.use(express.json());
app.use(
  OpenApiValidator.middleware({
    apiSpec: contractFile,
    validateRequests: true,
    validateResponses: true,
    validateSecurity: {
      handlers: { BearerAuth: (req) => hasScope(verify(req.headers.authorization), 'transactions', 'read') },
    },
  }),
);
app.get('/transactions', async ({ query }, res) => {
  res.json(await listTransactions(Number(query.limit)));
});
const onError: ErrorRequestHandler = (error: { status?: number; message: string }, _req, res, _next) => {
  res.status(error.status ?? 500).json({ message: error.message });
};
app.use(onError);
app.listen(config.port, '127.0.0.1');
