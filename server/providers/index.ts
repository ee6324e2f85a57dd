// What an installation plugs in. The sandbox has simulators; production has what the module named by PROVIDERS exports, and
// nothing else.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigurationFault, reasonOf } from '../kit/faults.ts';
import { isDoneWithin } from '../kit/rules/async.ts';
import { providerNames, type NoteCall } from './call.ts';
import { guardDescriber, guardVerifier, noDescription, type DescribeCard, type VerifyCard } from './cards.ts';
import { guardGiftCards, type GiftCardProvider } from './gift-cards.ts';
import { describeSimulatedCard, simulatedGiftCards, verifySimulatedCard } from './simulated.ts';

/** The module may export some of them: see docs/guides/providers.md. */
export interface Providers {
  giftCards: GiftCardProvider | undefined;
  verifyCard: VerifyCard | undefined;
  describeCard: DescribeCard | undefined;
}

export type GuardedProviders = ReturnType<typeof guardProviders>;

/** As the service calls them: within a deadline, with answers that are checked, and errors without card data. */
export const guardProviders = (
  { giftCards, verifyCard, describeCard }: Providers,
  options: { hasApprovals: boolean; note?: NoteCall | undefined },
) => ({
  giftCards: giftCards && guardGiftCards(giftCards, options.note),
  verifyCard: verifyCard && guardVerifier(verifyCard, options),
  // Without one no call is counted.
  describeCard: describeCard ? guardDescriber(describeCard, options.note) : () => noDescription,
});

const patienceMilliseconds = 30_000;

interface LoadOptions {
  environment: 'sandbox' | 'production';
  providers: string | undefined;
}

export async function loadProviders(
  { environment, providers }: LoadOptions,
  patience = patienceMilliseconds,
): Promise<Providers> {
  const given = providers === undefined ? {} : await load(providers, patience);
  const fallback =
    environment === 'sandbox'
      ? {
          giftCards: simulatedGiftCards,
          verifyCard: verifySimulatedCard,
          describeCard: describeSimulatedCard,
        }
      : { giftCards: undefined, verifyCard: undefined, describeCard: undefined };
  return { ...fallback, ...given };
}

async function load(file: string, patience: number): Promise<Partial<Providers>> {
  let module: Record<string, unknown>;
  try {
    const loading = import(pathToFileURL(resolve(file)).href) as Promise<Record<string, unknown>>;
    // Otherwise a start would wait forever without a word, or end if nothing else keeps the process alive.
    if (!(await isDoneWithin(patience, loading)))
      throw new Error(`its top level is not done within ${patience / 1000} s`);
    module = await loading;
  } catch (error) {
    throw new ConfigurationFault(`PROVIDERS: ${file} cannot be loaded (${reasonOf(error)}).`);
  }
  const found = Object.entries(module).filter(([name]) => name !== 'default');
  const wrong = found.find(
    ([name, value]) => !(providerNames as readonly string[]).includes(name) || typeof value !== 'function',
  );
  if (wrong || found.length === 0)
    throw new ConfigurationFault(
      `PROVIDERS: ${file} must export functions named ${providerNames.join(', ')}${wrong ? `; it exports ${wrong[0]}` : 'default' in module ? '; its default is not read' : ''}.`,
    );
  return Object.fromEntries(found);
}
