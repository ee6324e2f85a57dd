// What operators see of cards and providers in numbers.
import type { OwnGauge } from '../../kit/upkeep/metrics.ts';
import { countProcessing } from './queries.ts';

/** A scrape must not count millions of cards. */
const mostCards = 100_000;

/** A card whose verifier is down is stored all the same, and the caller gets 201. */
export const cardGauges: readonly OwnGauge[] = [
  {
    name: 'cards_processing',
    help: 'Cards in processing',
    read: async (db) => (await countProcessing(db, mostCards)).cards,
  },
  {
    name: 'cards_processing_oldest_seconds',
    help: 'Age of the oldest card in processing',
    read: async (db) => (await countProcessing(db, 1)).seconds,
  },
];
