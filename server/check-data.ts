// What a start looks for in the data before it serves requests.
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Db } from './database/database.ts';
import { OperatorFault } from './faults.ts';
import { forOperator } from './hints.ts';
import { findActivePairNamed } from './resources/api-key-pairs/queries.ts';
import { findFirstAccount } from './resources/merchant-accounts/queries.ts';
import { fillSandbox } from './sandbox/first-start.ts';
import type { Secrets } from './secrets/open.ts';
import { findMissingKeys } from './secrets/reseal.ts';

interface CheckOptions {
  config: Config;
  log: Logger;
  now: () => Date;
  secrets: Secrets;
}

/** A sandbox without data gets its sample data. */
export async function checkData(db: Db, { config, log, now, secrets }: CheckOptions): Promise<void> {
  const isSandbox = config.environment === 'sandbox';
  if (isSandbox && (await fillSandbox(db, config.dataDir, now(), secrets)))
    log.info('sample data was added to the sandbox');
  await refuseWrongKeys(db, { config, secrets, log });
  if (!isSandbox) await warnOfData(db, log);
}

/** With a wrong CARD_KEY requests fail. A sandbox only logs it, because its records may be thrown away. */
async function refuseWrongKeys(db: Db, { config, secrets, log }: Omit<CheckOptions, 'now'>): Promise<void> {
  const found = await findMissingKeys(db, secrets.vault);
  if (!found) return;
  const ids = found.missing.join(', ');
  if (found.isWhollyWrong && config.environment === 'production' && config.missingKeys !== 'accept')
    throw new OperatorFault(
      `CARD_KEY fits no stored value: they need key ${ids}. Add it to CARD_KEY. If it is lost, see "A lost key" in docs/guides/keys.md.`,
    );
  log.error(forOperator(`stored values need a key that is missing: ${ids} (add it to CARD_KEY)`));
}

/** What makes requests fail although the service runs. */
async function warnOfData(db: Db, log: Logger): Promise<void> {
  if (!(await findFirstAccount(db, 'all')))
    log.warn(
      'there is no merchant account yet, so most operations answer 404: run payments accounts create default --name Default',
    );
  const left = await findActivePairNamed(db, 'Sandbox');
  if (left)
    log.warn(
      `the active key pair ${left.id} is named Sandbox, as a sandbox creates it: if nobody needs it, run payments keys deactivate ${left.id}`,
    );
}
