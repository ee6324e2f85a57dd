// What handlers use that is the same for every request, made from configuration and secrets. The command line uses the same.
import type { Config } from './config.ts';
import { fingerprintOf } from './domain/cards.ts';
import { createCursorCodec } from './domain/cursor.ts';
import { createVault } from './domain/vault.ts';
import type { Services } from './handlers/deps.ts';
import { sandboxCards, sandboxIssuer } from './sandbox/card-numbers.ts';
import { sandboxGiftCards } from './providers/simulated.ts';
import type { Secrets } from './secrets.ts';

const giftCardMilliseconds = 3_000;

export function createServices({ environment }: Pick<Config, 'environment'>, secrets: Secrets): Services {
  return {
    environment,
    cursors: createCursorCodec(secrets.CURSOR_KEY),
    vault: createVault(secrets.cardKeys),
    fingerprint: (number) => fingerprintOf(secrets.FINGERPRINT_KEY, number),
    giftCards: sandboxGiftCards,
    giftCardMilliseconds,
    cardOutcome(number) {
      const card = environment === 'sandbox' ? sandboxCards[number] : undefined;
      return card && { status: card.status, cardType: card.cardType, issuer: sandboxIssuer };
    },
  };
}
