// One edit that Redocly reports twice is one change.
import { gained, lost, pointerOf, step, type Change } from './change.ts';
import { rate } from './impact.ts';

export const withoutDoubles = (changes: Change[]): Change[] =>
  changes
    .filter((change) => !isDated(change, changes))
    .flatMap((change) => withoutNewAndOld(change, changes));

/** `x-deprecation` says the same as `deprecated`, with dates. */
const isDated = ({ property, path }: Change, all: Change[]) =>
  property === 'deprecated' && all.some((other) => pointerOf(other) === step(path, 'x-deprecation'));

/**
 * A required property that was removed is no longer required either, and a new one is required from the start. If it was
 * renamed, the new one is required instead, which adds nothing to a change that is breaking already. But a new one that requests
 * must have is breaking, unlike the new property itself.
 */
function withoutNewAndOld(change: Change, all: Change[]): Change[] {
  if (change.typeName !== 'Schema' || change.property !== 'required') return [change];
  const schema = (change.base ?? change.revision)?.pointer.replace(/\/required$/, '') ?? '';
  const of = (kind: Change['kind'], name: unknown) =>
    all.filter(
      (one) =>
        one.kind === kind &&
        (one.base ?? one.revision)?.pointer === step(`${schema}/properties`, String(name)),
    );
  const removed = lost(change).filter((name) => of('removed', name).length > 0);
  const isHarmless =
    removed.some((name) => of('removed', name).some((one) => rate(one).rating === 'breaking')) ||
    (lost(change).length === 0 && rate(change).rating !== 'breaking');
  const added = isHarmless ? gained(change).filter((name) => of('added', name).length > 0) : [];
  if (removed.length + added.length === 0) return [change];
  const rest = without(change, [...removed, ...added]);
  return lost(rest).length + gained(rest).length === 0 ? [] : [rest];
}

function without(change: Change, names: unknown[]): Change {
  const side = (one: Change['base']) =>
    one && {
      ...one,
      value: Array.isArray(one.value) ? one.value.filter((name) => !names.includes(name)) : one.value,
    };
  const inText = new Set(names.map((name) => `\`${String(name)}\``));
  const verdicts = change.verdicts.map((verdict) => ({
    ...verdict,
    message: verdict.message.replace(/(?<=: )`.*`/, (list) =>
      list
        .split(', ')
        .filter((name) => !inText.has(name))
        .join(', '),
    ),
  }));
  const [base, revision] = [side(change.base), side(change.revision)];
  return { ...change, verdicts, ...(base && { base }), ...(revision && { revision }) };
}
