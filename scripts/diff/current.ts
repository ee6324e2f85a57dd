// The contract in openapi/. Its faults are shown as `npm run lint -- --contract` shows them, because that says how to fix them.
import { lintContract, type Linted } from '../lint/contract.ts';
import { count, messagesOf } from '../lint/report.ts';
import { root } from '../support/root.ts';
import type { Json } from './change.ts';
import { bundle, ContractFault } from './compare.ts';

type Found = Omit<Linted, 'unfinished'>;

const isClean = ({ problems, failure }: Found) => problems.length === 0 && failure === undefined;

const shown = (linted: Found) => messagesOf(linted, root, process.stderr.isTTY).join('\n\n');

export async function bundleCurrent(): Promise<Json> {
  try {
    return await bundle('payments@v1');
  } catch (error) {
    if (!(error instanceof ContractFault)) throw error;
    const linted = await lintContract(root);
    const why = isClean(linted) ? error.message : shown(linted);
    throw new ContractFault(`${why}\n\nNothing was compared. Fix the contract, then run: npm run diff`);
  }
}

/** Consumers build on a released contract, so it must keep the house rules. */
export async function refuseFaultyRelease(): Promise<void> {
  const { unfinished, ...linted } = await lintContract(root);
  const found = { ...linted, problems: [...linted.problems, ...unfinished] };
  if (isClean(found)) return;
  const { length } = found.problems;
  const why = length === 0 ? 'the contract could not be linted' : `the contract has ${count(length)}`;
  throw new ContractFault(`${shown(found)}\n\nNot released: ${why}`);
}
