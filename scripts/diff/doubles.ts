// One edit that Redocly reports twice is one change.
import { gained, lost, pointerOf, step, type Change } from './change.ts';
import { rate } from './impact.ts';

export const withoutDoubles = (changes: Change[]): Change[] =>
  changes.flatMap((change) => {
    if (isDated(change, changes)) return [];
    return change.typeName === 'Schema' && change.property === 'required'
      ? required(change, changes)
      : change;
  });

/** `x-deprecation` says the same as `deprecated`, with dates. */
const isDated = ({ property, path }: Change, all: Change[]) =>
  property === 'deprecated' && all.some((other) => pointerOf(other) === step(path, 'x-deprecation'));

/**
 * A required property that was removed is no longer required either, and a new one is required from the start. If it was
 * renamed, the new one is required instead, which adds nothing to a change that is breaking already. But a new one that requests
 * must have is breaking, unlike the new property itself.
 */
function required(change: Change, all: Change[]): Change[] {
  const schema = (change.base ?? change.revision)?.pointer.replace(/\/required$/, '') ?? '';
  const has = (kind: Change['kind'], name: unknown) =>
    all.find(
      (one) =>
        one.kind === kind &&
        (one.base ?? one.revision)?.pointer === step(`${schema}/properties`, String(name)),
    );
  const removed = lost(change).flatMap((name) => has('removed', name) ?? []);
  const isHarmless =
    removed.some((one) => rate(one).rating === 'breaking') ||
    (lost(change).length === 0 && rate(change).rating !== 'breaking');
  const named = [
    ...lost(change).filter((name) => has('removed', name)),
    ...(isHarmless ? gained(change).filter((name) => has('added', name)) : []),
  ];
  const without = (side: Change['base']) =>
    side && { ...side, value: [side.value ?? []].flat().filter((name) => !named.includes(name)) };
  const [base, revision] = [without(change.base), without(change.revision)];
  const rest = { ...change, ...(base && { base }), ...(revision && { revision }) };
  return lost(rest).length + gained(rest).length === 0 && named.length > 0 ? [] : [rest];
}
