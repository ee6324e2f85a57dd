import express, { type Express } from 'express';

/** An Express app without default headers. Paths are case-sensitive, and a trailing slash makes another path. */
export function createExpress(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('strict routing');
  app.enable('case sensitive routing');
  app.set('query parser', 'simple');
  return app;
}
