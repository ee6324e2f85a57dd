// One change as `redocly diff --format json` reports it (reportVersion 1), and the little that is asked of one everywhere.

export interface Side {
  pointer: string;
  value?: unknown;
}

export interface Change {
  /** Where the walk from the root met it first, through references; `pointer` of a side is where it is written. */
  path: string;
  typeName: string;
  kind: 'added' | 'removed' | 'modified';
  /** Of `modified`: the keyword that changed; `key` when the thing itself got another name. */
  property?: string;
  base?: Side;
  revision?: Side;
  /** What Redocly's own rules said, minding whether the data goes in, comes out, or both. */
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

/** Where the change is written, in the new contract if it is still there. */
export function pointerOf({ base, revision, path }: Change): string {
  // A reference that leads to another component: neither of the two changed, but the place that refers to them.
  if (base && revision && component(base.pointer) !== component(revision.pointer)) return path;
  return revision?.pointer ?? base?.pointer ?? path;
}

/** `#/components/schemas/Error`, if the pointer leads into one. */
export const component = (pointer: string) => /^#\/components\/[^/]+\/[^/]+/.exec(pointer)?.[0] ?? '';

/** What stands there after an addition, and stood there before a removal. */
export const valueOf = (change: Change) => (change.kind === 'removed' ? change.base : change.revision)?.value;

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const lost = ({ base, revision }: Change) =>
  list(base?.value).filter((item) => !list(revision?.value).includes(item));

export const gained = ({ base, revision }: Change) =>
  list(revision?.value).filter((item) => !list(base?.value).includes(item));

/** The net below everything: the documents differ, and no change says how. */
export const unseen: Change = {
  path: '#/',
  typeName: 'Root',
  kind: 'modified',
  property: 'content',
  verdicts: [],
};
