import type { Metrics } from '../kit/maintenance/metrics.ts';
import type { CallOutcome, NoteCall, ProviderName } from './call.ts';

const providers: readonly ProviderName[] = ['giftCards', 'verifyCard', 'describeCard'];
const outcomes: readonly CallOutcome[] = ['answered', 'timed_out', 'failed'];

export function countCalls({ counter }: Metrics): NoteCall {
  const calls = counter('provider_calls_total', 'Calls of providers, by outcome', 'provider', 'outcome');
  for (const provider of providers) for (const outcome of outcomes) calls.inc({ provider, outcome }, 0);
  return (provider, outcome) => {
    calls.inc({ provider, outcome });
  };
}
