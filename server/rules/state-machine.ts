// State machines as tables: each state with the states that may follow it.
import { OperatorFault } from '../faults.ts';

export class IllegalMove extends OperatorFault {}

export function checkMove<State extends string>(
  table: Readonly<Record<State, readonly State[]>>,
  from: State,
  to: State,
): void {
  if (table[from].includes(to)) return;
  const legal =
    table[from].length === 0 ? `${from} is final` : `from ${from} it may become ${table[from].join(', ')}`;
  throw new IllegalMove(`It cannot become ${to}: ${legal}.`);
}
