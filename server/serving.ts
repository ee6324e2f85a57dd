// What a running service of payments has of its own: providers, limits on numbers and cards, badges and the page of approvals.
import type { Express } from 'express';
import type { Logger } from 'pino';
import type { Document } from './kit/contract/load.ts';
import type { Db, Owner } from './kit/database/database.ts';
import type { RecordCall } from './kit/database/rate-limits.ts';
import type { InUnitOfWork } from './kit/database/unit-of-work.ts';
import type { Known } from './kit/http/answer.ts';
import type { Arrived } from './kit/http/known.ts';
import type { Pipeline } from './kit/http/pipeline.ts';
import type { Metrics } from './kit/maintenance/metrics.ts';
import type { KeysOf } from './kit/secrets/digest-keys.ts';
import { guardProviders, loadProviders, type GuardedProviders, type Providers } from './providers/index.ts';
import { countCalls } from './providers/metrics.ts';
import { serveBadges } from './resources/card-schemes/badges.ts';
import { createNumberBuckets } from './resources/number-limits/changes.ts';
import type { NumberLimit, TriedNumber } from './resources/number-limits/rules.ts';
import { createVelocityLimit } from './resources/number-limits/velocity.ts';
import { refuseMissingFilters } from './resources/transactions/filters.ts';
import { serveApprovals } from './sandbox/approvals.ts';

export interface OwnDeps {
  /** Never called inside a unit of work. */
  providers: GuardedProviders;
  recordNumbers: (numbers: readonly TriedNumber[], limit: NumberLimit) => Promise<(number | undefined)[]>;
}

/** What tests replace. */
export interface OwnParts {
  providers: Partial<Providers>;
}

interface Settings {
  environment: 'sandbox' | 'production';
  providers: string | undefined;
  cardsPerMinute: number | 'off' | undefined;
}

interface Given {
  metrics: Metrics | undefined;
  dbOf: (owner: Owner) => Db;
  recordCall: RecordCall;
  keysOf: KeysOf;
}

export type Serving = Awaited<ReturnType<typeof prepareServing>>;

/** Before the database is opened: a module of providers that is broken ends the start. */
export async function prepareServing(
  { config, document, log }: { config: Settings; document: Document; log: Logger },
  replaced: Partial<OwnParts>,
) {
  const { environment, cardsPerMinute } = config;
  refuseMissingFilters(document);
  const loaded = { ...(await loadProviders(config)), ...replaced.providers };
  if (!loaded.giftCards)
    log.warn('no gift card provider is configured: balance requests fail with 502 (set PROVIDERS)');
  return ({ metrics, dbOf, recordCall, keysOf }: Given) => {
    const providers = guardProviders(loaded, {
      hasApprovals: environment === 'sandbox',
      note: metrics && countCalls(metrics),
    });
    const numberBuckets = createNumberBuckets(dbOf);
    return {
      depsOf: ({ owner, deadline }: Known): OwnDeps => ({
        providers,
        recordNumbers: (numbers, limit) => numberBuckets.record({ owner, deadline }, numbers, limit),
      }),
      checks: createVelocityLimit({ recordCall, numberBuckets, keysOf, cardsPerMinute, environment }),
      addRoutes: (
        app: Express,
        arrived: Pipeline<Pick<Arrived, 'unownedDb'>>,
        pages: { pagesDir: string; unitsOn: (db: Db) => InUnitOfWork },
      ) => {
        serveBadges(app);
        if (environment === 'sandbox') serveApprovals(app, arrived, pages);
      },
    };
  };
}
