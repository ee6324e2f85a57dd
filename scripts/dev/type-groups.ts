// The faults of the compiler after a change of the contract, grouped by what has changed, for the screen of `npm run dev` and for
// `npm run lint -- --types`.
import { placeOf } from '../support/faults.ts';

const unknownName = [
  /'([\w.-]+)' does not exist (?:on|in) type/,
  /(?:Type|Argument of type) '"([\w.-]+)"' is not assignable to/,
  /and '"([\w.-]+)"' have no overlap/,
];
const missingNames = [
  /Property '([\w.-]+)' is missing in type/,
  /missing the following properties from type [^]*?': ([\w., -]+)/,
];

interface Group {
  kind: 'missing' | 'unknown' | 'other';
  name: string;
  faults: string[];
  places: Set<string>;
  /** Whether the compiler has called it a property. */
  isProperty: boolean;
}

export function groupsOf(faults: string[]): Group[] {
  const groups = new Map<string, Group>();
  for (const fault of faults) {
    const { file, line } = placeOf(fault);
    for (const { kind, name } of causesOf(fault)) {
      const key = `${kind} ${name}`;
      const group = groups.get(key) ?? {
        kind,
        name,
        faults: [],
        places: new Set<string>(),
        isProperty: false,
      };
      group.faults.push(fault);
      group.places.add(`${file}:${line}`);
      group.isProperty ||= fault.includes(`'${name}' does not exist`);
      groups.set(key, group);
    }
  }
  const order = ['missing', 'unknown', 'other'];
  return [...groups.values()].sort(
    (a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || b.places.size - a.places.size,
  );
}

function causesOf(fault: string): Pick<Group, 'kind' | 'name'>[] {
  const [listed] = missingNames.flatMap((pattern) => pattern.exec(fault)?.[1] ?? []);
  const missing = (listed ?? '').match(/[\w-][\w.-]*(?=,|\.?$)/g) ?? [];
  if (missing.length > 0) return missing.map((name) => ({ kind: 'missing', name: name.replace(/\.$/, '') }));
  const [name] = unknownName.flatMap((pattern) => pattern.exec(fault)?.[1] ?? []);
  return [name === undefined ? { kind: 'other', name: '' } : { kind: 'unknown', name }];
}

const shownPlaces = 2;

/** `output`: of the compiler. `values`: of the enumerations of the contract. */
export const groupFaults = (output: string, values: ReadonlySet<string>): string[] =>
  // A fault goes on in indented lines.
  groupsOf(output.split(/\n(?=\S)/)).map((group) => {
    const places = [...group.places];
    const more = places.length > shownPlaces ? ` and ${places.length - shownPlaces} more` : '';
    return `${titleOf(group, values)}: ${places.slice(0, shownPlaces).join(', ')}${more}`;
  });

export function titleOf({ kind, name, places, isProperty }: Group, values: ReadonlySet<string>): string {
  const count = `${places.size} ${places.size === 1 ? 'place' : 'places'}`;
  if (kind === 'other') return `something else in ${count}`;
  if (kind === 'unknown' && !isProperty && values.has(name))
    return `the value \`${name}\` is not allowed in ${count}`;
  const noun = (kind === 'missing' ? values.has(name) : !isProperty) ? 'value' : 'field';
  const what = kind === 'missing' ? 'is missing in' : 'is not in the contract, but used in';
  return `the ${noun} \`${name}\` ${what} ${count}`;
}

/** Of a bundled contract. */
export function enumValues(contract: string): Set<string> {
  const found = new Set<string>();
  JSON.parse(contract, (key, value: unknown) => {
    if (key === 'enum' && Array.isArray(value)) for (const one of value) found.add(String(one));
    return value;
  });
  return found;
}
