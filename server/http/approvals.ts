// Serves the sandbox's approval page and carries out the buyer's decision. Unknown IDs fall through, so they answer like
// any unknown path.
import express, { type Express, type Request, type RequestHandler } from 'express';
import { approvalPath } from '../present/payment-method.ts';
import { ApiError } from '../errors.ts';
import { IllegalMove } from '../domain/state-machine.ts';
import type { PaymentMethodRow } from '../store/payment-methods.ts';

export interface ApprovalsDeps {
  find: (id: string) => Promise<PaymentMethodRow | undefined>;
  /** Throws IllegalMove. */
  move: (id: string, status: 'succeeded' | 'failed') => Promise<PaymentMethodRow | undefined>;
  pages: {
    approval: (card: { scheme: string | null; label: string | null }) => string;
    decided: (status: string) => string;
  };
}

// Not `:id`, which Express would decode, and answer `%zz` with an error of its own.
const path = new RegExp(`^${approvalPath('([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})')}$`);
const policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

const parse = express.urlencoded({ extended: false, limit: 1024 });

// What the parser refuses is the sender's fault.
const form: RequestHandler = (req, res, next) => {
  parse(req, res, (cause?: unknown) => {
    next(cause === undefined ? undefined : new ApiError(400, { reason: 'not the form of the page', cause }));
  });
};

// On the app itself: a router would answer OPTIONS in its own way.
export function serveApprovals(app: Express, { find, move, pages }: ApprovalsDeps): void {
  app.get(path, async (req, res, next) => {
    const method = await find(idOf(req));
    if (!method) {
      next();
      return;
    }
    res.set({ 'Content-Security-Policy': policy, 'Cache-Control': 'no-store' }).type('html');
    res.send(
      method.status === 'buyer_approval_required' ? pages.approval(method) : pages.decided(method.status),
    );
  });
  app.post(path, form, async (req, res, next) => {
    const decision = (req.body as { decision?: unknown } | undefined)?.decision;
    const method = await find(idOf(req));
    if (!method || (decision !== 'approve' && decision !== 'decline')) {
      next();
      return;
    }
    // A second click finds it decided, and nothing moves twice.
    const decided = await move(method.id, decision === 'approve' ? 'succeeded' : 'failed').catch(
      (error: unknown) => {
        if (error instanceof IllegalMove) return find(method.id);
        throw error;
      },
    );
    if (method.redirect_url) res.redirect(303, method.redirect_url);
    else
      res
        .set('Content-Security-Policy', policy)
        .type('html')
        .send(pages.decided(decided?.status ?? 'failed'));
  });
}

const idOf = (req: Request): string => String(req.params[0]);
