import express, { type Express } from 'express';

/** An Express that adds nothing by itself, and to which a slash at the end or another case is another path. */
export function createExpress(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('strict routing');
  app.enable('case sensitive routing');
  app.set('query parser', 'simple');
  return app;
}
