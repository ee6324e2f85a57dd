// The faults of the compiler after a change of the contract, grouped by what has changed. `npm run lint -- --types` shows them
// one by one, with what to do.
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
  places: string[];
  /** Whether the compiler has called it a property. */
  isProperty: boolean;
}

/** `output`: of the compiler. `values`: of the enumerations of the contract. */
export function groupFaults(output: string, values: ReadonlySet<string>): string[] {
  const groups = new Map<string, Group>();
  // A fault goes on in indented lines.
  for (const fault of output.split(/\n(?=\S)/)) {
    const { file, line } = placeOf(fault);
    for (const { kind, name } of causesOf(fault)) {
      const key = `${kind} ${name}`;
      const group = groups.get(key) ?? { kind, name, places: [], isProperty: false };
      group.places.push(`${file}:${line}`);
      group.isProperty ||= fault.includes(`'${name}' does not exist`);
      groups.set(key, group);
    }
  }
  const order = ['missing', 'unknown', 'other'];
  return [...groups.values()]
    .sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || b.places.length - a.places.length)
    .map((group) => describe(group, values));
}

function causesOf(fault: string): Pick<Group, 'kind' | 'name'>[] {
  const [listed] = missingNames.flatMap((pattern) => pattern.exec(fault)?.[1] ?? []);
  const missing = (listed ?? '').match(/[\w-][\w.-]*(?=,|\.?$)/g) ?? [];
  if (missing.length > 0) return missing.map((name) => ({ kind: 'missing', name: name.replace(/\.$/, '') }));
  const [name] = unknownName.flatMap((pattern) => pattern.exec(fault)?.[1] ?? []);
  return [name === undefined ? { kind: 'other', name: '' } : { kind: 'unknown', name }];
}

const shownPlaces = 2;

function describe({ kind, name, places, isProperty }: Group, values: ReadonlySet<string>): string {
  const distinct = [...new Set(places)];
  const count = `${distinct.length} ${distinct.length === 1 ? 'place' : 'places'}`;
  const more = distinct.length > shownPlaces ? ` and ${distinct.length - shownPlaces} more` : '';
  const where = `${distinct.slice(0, shownPlaces).join(', ')}${more}`;
  if (kind === 'other') return `something else in ${count}: ${where}`;
  const noun = (kind === 'missing' ? values.has(name) : !isProperty) ? 'value' : 'field';
  const what = kind === 'missing' ? 'is missing in' : 'is not in the contract, but used in';
  return `the ${noun} \`${name}\` ${what} ${count}: ${where}`;
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
