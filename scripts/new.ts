// `npm run new`: writes the files of a new operation, event, table or field, and generates what follows from them.
import { spawnSync } from 'node:child_process';
import { extname, join } from 'node:path';
import { styleText } from 'node:util';
import { YAMLParseError } from 'yaml';
import { isDevRunning } from './dev/running.ts';
import { bundleContract } from './generate/bundle.ts';
import { planOf, readCall, WrongCall } from './new/call.ts';
import { carryOut, Refusal } from './new/plan.ts';
import { root } from './support/root.ts';

const help = `Write the files of something new. They pass the lint; mock and service answer at once, with the example.

  npm run new -- operation GET /refund-reasons                 a list: path, schemas, examples; stub and test by generate
  npm run new -- operation POST /refund-reasons                creates one
  npm run new -- operation GET /refund-reasons/{reason_id}     gets one; parameters of the path are UUIDs
  npm run new -- operation PATCH /refund-reasons/{reason_id}   changes one; PUT replaces it; DELETE deletes it, and answers 204
      --id ID           the operation ID; otherwise from method and path: listRefundReasons
      --schema NAME     the resource that it shows; otherwise from the path: RefundReason. An existing one is used
      --tag TAG         where the docs show it; otherwise from the path: Refund reasons
  npm run new -- action cancel --on RefundReason   changes the state of one: POST /refund-reasons/{reason_id}/cancel
  npm run new -- event refund-reason.created                   an event that shows one: webhook, schema and example
      --tag TAG         as above
  npm run new -- table refund_reasons --erasure display_name=kept   the table of RefundReason: migration, types, queries, and
                        changes, presenter and handlers of the operations and events above
      --erasure FATES   of each column that can hold text: erased, if it may say something about a buyer, or kept
  npm run new -- field installments --in Transaction --type integer --erasure kept   a field of a stored resource, with its column
      --type TYPE       string (if left out), integer, amount, boolean, date-time or uuid; it may always be null
      --values A,B      an enumeration of these
      --erasure FATE    of buyers, cards and transactions: kept or erased, when a buyer is erased

  --no-generate   do not run "npm run generate" afterwards, to write several things first

Nothing that exists is overwritten. Exit code: 0 if all was written, 1 if it cannot be, 2 for a wrong call.`;

function generate(): number {
  const script = join(root, `scripts/generate${extname(import.meta.filename)}`);
  const options = { cwd: root, stdio: 'inherit' } as const;
  return spawnSync(process.execPath, [...process.execArgv, script], options).status ?? 1;
}

async function main(): Promise<number> {
  try {
    const call = readCall(process.argv.slice(2));
    if (call.values.help) {
      console.log(help);
      return 0;
    }
    const planned = await planOf(root, call);
    for (const file of await carryOut(root, planned)) console.log(`${styleText('green', '✓')} ${file}`);
    const isLeft = call.values['no-generate'] && !isDevRunning();
    const status = isLeft || isDevRunning() ? 0 : generate();
    const next = isLeft ? ['Generate what follows: npm run generate', ...planned.next] : planned.next;
    const steps = next.map((step, index) => `  ${index + 1}. ${step}`);
    console.log(`\nNext:\n${steps.join('\n')}`);
    console.log(
      isDevRunning()
        ? '\nnpm run dev is running: it generates what follows, and shows it.'
        : '\nA service or mock that runs already must be started again; npm run dev does that by itself.',
    );
    return status;
  } catch (error) {
    if (error instanceof Refusal) {
      console.error(`${error.message}\nNothing was written.`);
      return 1;
    }
    if (error instanceof YAMLParseError) {
      const bundled = await bundleContract(root);
      console.error(`${'fault' in bundled ? bundled.fault : error.message}\nNothing was written.`);
      return 1;
    }
    if (!(error instanceof WrongCall)) throw error;
    console.error(`${error.message}\n\n${help}`);
    return 2;
  }
}

process.exitCode = await main();
