// A change as `redocly diff --format json` reports it (reportVersion 1), and helpers to read one.

export interface Side {
  pointer: string;
  value?: unknown;
}

export interface Change {
  /** The path from the root through references; the `pointer` of a side is where the value is written. */
  path: string;
  typeName: string;
  kind: 'added' | 'removed' | 'modified';
  /** For `modified`: the keyword that changed, or `key` if the node was renamed. */
  property?: string;
  base?: Side;
  revision?: Side;
  /** The results of Redocly's rules, which distinguish data in requests from data in responses. */
  verdicts: { ruleId: string; impact: 'major' | 'minor' | 'patch'; message: string }[];
}

export type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const segments = (pointer: string): string[] =>
  pointer
    .replace(/^#\/?/, '')
    .split('/')
    .filter((part) => part !== '')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

export const step = (pointer: string, key: string) =>
  `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Where the change is written: in the new contract, or in the old one if it was removed. */
export function pointerOf({ base, revision, path }: Change): string {
  // A $ref that now names another component: report the place of the $ref, because neither component changed.
  if (base && revision && component(base.pointer) !== component(revision.pointer)) return path;
  return revision?.pointer ?? base?.pointer ?? path;
}

/** The keyword that changed, at its owner or at itself; one that was removed has no place of its own. */
export const atKeyword = ({ kind, property = '' }: Change, pointer: string) =>
  kind === 'modified' && !['', 'key', segments(pointer).at(-1)].includes(property)
    ? step(pointer, property)
    : pointer;

/** The component that the pointer is in, such as `#/components/schemas/Error`; otherwise ''. */
export const component = (pointer: string) => /^#\/components\/[^/]+\/[^/]+/.exec(pointer)?.[0] ?? '';

/** The added value, or the removed one. */
export const valueOf = (change: Change) => (change.kind === 'removed' ? change.base : change.revision)?.value;

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const lost = ({ base, revision }: Change) =>
  list(base?.value).filter((item) => !list(revision?.value).includes(item));

export const gained = ({ base, revision }: Change) =>
  list(revision?.value).filter((item) => !list(base?.value).includes(item));

/** The name of the field that the change deprecates. */
export function deprecatedField(change: Change): string | undefined {
  if (change.property !== 'deprecated' || valueOf(change) !== true) return undefined;
  const [map, name] = segments(pointerOf(change)).slice(-3);
  return map === 'properties' ? name : undefined;
}

export const methods = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);
