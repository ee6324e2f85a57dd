// State machines as tables: each state with the states that may follow it.

/** What a change of state returns if it is not legal: a sentence that says why. */
export interface IllegalMove {
  illegal: string;
}

/** Undefined for a legal move. */
export function findIllegalMove<State extends string>(
  table: Readonly<Record<State, readonly State[]>>,
  from: State,
  to: State,
): IllegalMove | undefined {
  if (table[from].includes(to)) return undefined;
  const legal =
    table[from].length === 0 ? `${from} is final` : `from ${from} it may become ${table[from].join(', ')}`;
  return { illegal: `It cannot become ${to}: ${legal}.` };
}
