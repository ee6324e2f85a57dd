// What `payments doctor` says of payments besides its checks.
import { count } from '../kit/cli/progress.ts';
import type { Db } from '../kit/database/database.ts';
import { listErasures } from './erasure/queries.ts';
import { countProcessing } from './payment-methods/queries.ts';

const mostProcessing = 100_000;
const longProcessingSeconds = 3_600;

/** As the alert PaymentsCardsProcessing has it. */
async function noteProcessing(db: Db): Promise<string[]> {
  const { cards, seconds } = await countProcessing(db, mostProcessing);
  if (seconds < longProcessingSeconds) return [];
  const number = `${cards === mostProcessing ? 'at least ' : ''}${count(cards, 'card')}`;
  return [
    `${number} in processing, the oldest for ${count(Math.floor(seconds / 3_600), 'hour')}: when the card verifier answers, run payments payment-methods verify --processing`,
  ];
}

const noteErasures = async (db: Db): Promise<string[]> =>
  (await listErasures(db)).map((command) => `an erasure was interrupted, run: payments ${command}`);

export const listNotes = async (db: Db): Promise<string[]> => [
  ...(await noteProcessing(db)),
  ...(await noteErasures(db)),
];
