// The health checks, and how long requests wait while the service starts.
import type { Express } from 'express';
import { trailOf } from './known.ts';
import { check } from './pipeline.ts';

export interface Life {
  phase: 'starting' | 'serving' | 'stopping';
  /** With port 0, the one that was found, once this serves. */
  publicUrl: string;
  started: Promise<void>;
}

const probes = new Set(['/healthz', '/readyz']);

/** Until then requests wait. They are cut off if the start fails. Health checks are answered at once. */
export const createWaitForStart = (life: Life) =>
  check('started', (_known: object, req) => {
    if (life.phase === 'serving' || probes.has(req.path)) return undefined;
    return life.started.catch((error: unknown) => {
      req.socket.destroy();
      throw error;
    });
  });

/** `findUnready` says why this instance cannot serve requests; undefined when it can. */
export function serveHealth(app: Express, life: Life, findUnready: () => Promise<string | undefined>): void {
  // Not the database: an orchestrator restarts an instance that is not healthy, and that does not bring a database back.
  app.get('/healthz', (_req, res) => void res.json({ status: 'ok' }));
  app.get('/readyz', async (_req, res) => {
    const reason = life.phase === 'serving' ? await findUnready() : life.phase;
    if (reason === undefined) res.json({ status: 'ready' });
    else {
      trailOf(res).unready = reason;
      res.status(503).json({ status: 'not ready', reason });
    }
  });
}
