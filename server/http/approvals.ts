// Serves the sandbox's approval page and applies the buyer's decision. Unknown IDs are passed on, so they get the same 404 as
// any unknown path.
import express, { type Express, type Request, type RequestHandler } from 'express';
import { movePaymentMethod } from '../resources/payment-methods/changes.ts';
import type { InUnitOfWork } from '../database/unit-of-work.ts';
import { IllegalMove } from '../rules/state-machine.ts';
import { uuidSource } from '../rules/uuid.ts';
import { ApiError } from '../errors.ts';
import { approvalPath } from '../resources/links.ts';
import type { PaymentMethodRow } from '../resources/payment-methods/queries.ts';
import { approvalPage, approvalSources, decidedPage } from './approval-page.ts';
import { partialContextOf, type Context } from './context.ts';

export interface ApprovalsDeps {
  find: (context: Partial<Context>, id: string) => Promise<PaymentMethodRow | undefined>;
  inUnitOfWork: (context: Partial<Context>) => InUnitOfWork;
}

// A pattern instead of `:id`: Express would decode that, and answer `%zz` with its own error page.
export const approvalPattern = new RegExp(`^${approvalPath(`(${uuidSource})`)}$`);
// Browsers apply `form-action` to every redirect that follows the form, and a shop may redirect further: so it names schemes.
const policyFor = (redirectUrl: string | null): string =>
  [
    `${approvalSources}; frame-ancestors 'none'; base-uri 'none'`,
    `form-action 'self'${redirectUrl ? ' https:' : ''}${redirectUrl?.startsWith('http:') ? ' http:' : ''}`,
  ].join('; ');

const parse = express.urlencoded({ extended: false, limit: 1024 });

// A form that cannot be parsed is a 400, not a server error.
const form: RequestHandler = (req, res, next) => {
  parse(req, res, (cause?: unknown) => {
    next(
      cause === undefined
        ? undefined
        : new ApiError('bad_request', { reason: 'the approval form cannot be parsed', cause }),
    );
  });
};

// The routes are on the app itself, because an Express router would answer OPTIONS requests.
export function serveApprovals(app: Express, { find, inUnitOfWork }: ApprovalsDeps): void {
  app.get(approvalPattern, async (req, res, next) => {
    const method = await find(partialContextOf(res), idOf(req));
    if (!method) {
      next();
      return;
    }
    res.set('Content-Security-Policy', policyFor(method.redirect_url)).type('html');
    res.send(method.status === 'buyer_approval_required' ? approvalPage(method) : decidedPage(method));
  });
  app.post(approvalPattern, form, async (req, res, next) => {
    const decision = (req.body as { decision?: unknown } | undefined)?.decision;
    const method = await find(partialContextOf(res), idOf(req));
    if (!method || (decision !== 'approve' && decision !== 'decline')) {
      next();
      return;
    }
    const status = decision === 'approve' ? 'succeeded' : 'failed';
    const decided = await inUnitOfWork(partialContextOf(res))((unit) =>
      movePaymentMethod(unit, method.id, status, { onlyFrom: 'buyer_approval_required' }),
    ).catch((error: unknown) => {
      if (error instanceof IllegalMove) return undefined;
      throw error;
    });
    if (decided && method.redirect_url) {
      res.redirect(303, method.redirect_url);
      return;
    }
    // It never waited for approval, or this is a second click.
    const shown = decided ?? (await find(partialContextOf(res), method.id)) ?? method;
    res
      .status(decided ? 200 : 409)
      .set('Content-Security-Policy', policyFor(null))
      .type('html')
      .send(decidedPage(shown));
  });
}

const idOf = (req: Request): string => String(req.params[0]);
