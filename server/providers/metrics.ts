import type { Metrics } from '../kit/maintenance/metrics.ts';
import { callOutcomes, providerNames, type NoteCall } from './call.ts';

export function countCalls({ counter }: Metrics): NoteCall {
  const calls = counter('provider_calls_total', 'Calls of providers, by outcome', 'provider', 'outcome');
  for (const provider of providerNames)
    for (const outcome of callOutcomes) calls.inc({ provider, outcome }, 0);
  return (provider, outcome) => {
    calls.inc({ provider, outcome });
  };
}
