// State machines as tables: each state with the states that may follow it.

/** What a change of state returns if it is not legal. The reason is a sentence. */
export interface IllegalMove {
  kind: 'illegal';
  reason: string;
}

export function findIllegalMove<State extends string>(
  table: Readonly<Record<State, readonly State[]>>,
  from: State,
  to: State,
): IllegalMove | undefined {
  if (table[from].includes(to)) return undefined;
  const legal =
    table[from].length === 0 ? `${from} is final` : `from ${from} it may become ${table[from].join(', ')}`;
  return { kind: 'illegal', reason: `It cannot become ${to}: ${legal}.` };
}
