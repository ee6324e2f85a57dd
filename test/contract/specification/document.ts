/** Reads the bundled contract: follows `$ref`, and shows each schema in one normal form. */
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

export type Json = Record<string, unknown>;

/** A value of the document and where it stands, as a JSON pointer. */
export interface Place {
  pointer: string;
  value: unknown;
}

/** A schema with its `$ref`s and `allOf`s merged and its ways of saying "or null" made one. */
export interface View {
  pointer: string;
  /** JSON types without `null`, sorted; empty when any type is allowed. */
  types: string[];
  nullable: boolean;
  /** `enum` or `const`, without null where the type allows null. */
  values: unknown[] | undefined;
  properties: Map<string, Place>;
  required: string[];
  closed: boolean;
  items: Place | undefined;
  /** The alternatives of an `anyOf` or `oneOf` with more than one branch besides null. */
  branches: Place[];
  /** Every other keyword that restricts values. */
  keywords: Json;
}

const annotations = new Set([
  'title',
  'description',
  'example',
  'examples',
  'deprecated',
  '$comment',
  'externalDocs',
]);
const structural = new Set([
  ...['$ref', 'allOf', 'anyOf', 'oneOf', 'type', 'enum', 'const'],
  ...['properties', 'required', 'items', 'additionalProperties', 'unevaluatedProperties'],
]);

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asJson(value: unknown): Json {
  return isJson(value) ? value : {};
}

export function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** Keys that say nothing about what is allowed: descriptions, examples, extensions. */
export function isAnnotation(key: string): boolean {
  return annotations.has(key) || key.startsWith('x-');
}

export function childOf(place: Place, key: string | number): Place {
  const step = String(key).replaceAll('~', '~0').replaceAll('/', '~1');
  const value = Array.isArray(place.value)
    ? (place.value as unknown[])[Number(key)]
    : asJson(place.value)[String(key)];
  return { pointer: `${place.pointer}/${step}`, value };
}

function childrenOf(place: Place, key: string): Place[] {
  const list = childOf(place, key);
  return asArray(list.value).map((_, index) => childOf(list, index));
}

/** The document must not change any more once a schema was viewed, because views are kept. */
export class Contract {
  readonly document: Json;
  readonly #views = new Map<string, View>();

  constructor(document: Json) {
    this.document = document;
  }

  static read(file: string): Contract {
    const document: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return new Contract(asJson(document));
  }

  get root(): Place {
    return { pointer: '', value: this.document };
  }

  /** The place that is reached from `start` by these keys, each `$ref` on the way followed. */
  at(keys: (string | number)[], start: Place = this.root): Place {
    return keys.reduce<Place>((place, key) => this.follow(childOf(place, key)), this.follow(start));
  }

  /** The target of a place that is a `$ref`, otherwise the place itself. */
  follow(place: Place): Place {
    const seen = new Set<string>();
    let here = place;
    for (;;) {
      const reference = asJson(here.value)['$ref'];
      if (typeof reference !== 'string') return here;
      if (seen.has(reference)) throw new Error(`${place.pointer}: $ref ${reference} leads back to itself`);
      seen.add(reference);
      here = this.#target(reference, here.pointer);
    }
  }

  view(place: Place): View {
    const known = this.#views.get(place.pointer);
    if (known) return known;
    const view = this.#makeView(place);
    this.#views.set(place.pointer, view);
    return view;
  }

  #makeView(place: Place): View {
    const parts = this.#parts(place);
    const own = parts.map((part) => asJson(part.value));
    const nullable = this.#permitsNull(place);
    const view: View = {
      pointer: this.follow(place).pointer,
      types: [],
      nullable,
      values: undefined,
      properties: new Map(),
      required: [...new Set(own.flatMap((schema) => asArray(schema['required'])))].map(String).sort(),
      closed: false,
      items: undefined,
      branches: [],
      keywords: {},
    };
    for (const part of parts) this.#mergeOwn(view, part);
    const typed = own.flatMap((schema) => (schema['type'] === undefined ? [] : [typesOf(schema)]));
    const [first, ...rest] = typed;
    if (first) view.types = first.filter((type) => rest.every((other) => other.includes(type)));
    else if (view.values) view.types = [...new Set(view.values.map(typeOfValue))];
    const nullTyped = view.types.includes('null');
    view.types = view.types.filter((type) => type !== 'null').sort();
    if (nullTyped) view.values = view.values?.filter((value) => value !== null);
    this.#judgeClosing(view, own);
    this.#joinPlainBranches(view);
    return view;
  }

  #target(reference: string, from: string): Place {
    if (!reference.startsWith('#/')) throw new Error(`${from}: $ref ${reference} is not internal`);
    const keys = reference.slice(2).split('/');
    let place = this.root;
    for (const key of keys) {
      place = childOf(place, decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~'));
    }
    if (place.value === undefined) throw new Error(`${from}: $ref ${reference} leads nowhere`);
    return place;
  }

  /** The schema itself and everything that it must also match: `$ref`, `allOf`, the one branch besides null. */
  #parts(place: Place): Place[] {
    const reference = asJson(place.value)['$ref'];
    const alternatives = this.#alternatives(place);
    const [only, ...others] = alternatives;
    return [
      place,
      ...(typeof reference === 'string' ? this.#parts(this.#target(reference, place.pointer)) : []),
      ...childrenOf(place, 'allOf').flatMap((part) => this.#parts(part)),
      ...(only && others.length === 0 ? this.#parts(only) : []),
    ];
  }

  /** The branches of `anyOf` and `oneOf` that are not plain null. */
  #alternatives(place: Place): Place[] {
    return [...childrenOf(place, 'anyOf'), ...childrenOf(place, 'oneOf')].filter(
      (branch) => !isDeepStrictEqual(typesOf(asJson(this.follow(branch).value)), ['null']),
    );
  }

  #permitsNull(place: Place): boolean {
    const schema = asJson(place.value);
    if (schema['type'] !== undefined && !typesOf(schema).includes('null')) return false;
    if (schema['enum'] !== undefined && !asArray(schema['enum']).includes(null)) return false;
    if (schema['const'] !== undefined && schema['const'] !== null) return false;
    const reference = schema['$ref'];
    if (typeof reference === 'string' && !this.#permitsNull(this.#target(reference, place.pointer)))
      return false;
    if (!childrenOf(place, 'allOf').every((part) => this.#permitsNull(part))) return false;
    const anyOf = childrenOf(place, 'anyOf');
    if (anyOf.length > 0 && !anyOf.some((branch) => this.#permitsNull(branch))) return false;
    const oneOf = childrenOf(place, 'oneOf');
    return oneOf.length === 0 || oneOf.filter((branch) => this.#permitsNull(branch)).length === 1;
  }

  #mergeOwn(view: View, part: Place): void {
    const schema = asJson(part.value);
    for (const [key, value] of Object.entries(schema)) {
      if (structural.has(key) || isAnnotation(key)) continue;
      addKeyword(view, key, value);
    }
    for (const name of Object.keys(asJson(schema['properties']))) {
      const property = childOf(childOf(part, 'properties'), name);
      const earlier = view.properties.get(name);
      const both = { pointer: property.pointer, value: { allOf: [earlier?.value, property.value] } };
      view.properties.set(name, earlier ? both : property);
    }
    if (schema['items'] !== undefined) {
      if (view.items) addKeyword(view, 'items', 'given twice');
      view.items = childOf(part, 'items');
    }
    const given = schema['enum'] === undefined ? [] : [asArray(schema['enum'])];
    if (schema['const'] !== undefined) given.push([schema['const']]);
    for (const values of given)
      view.values = view.values?.filter((value) => values.includes(value)) ?? values;
    const alternatives = this.#alternatives(part);
    if (alternatives.length > 1) {
      if (view.branches.length > 0) addKeyword(view, 'anyOf', 'given twice');
      view.branches = alternatives;
    }
  }

  #judgeClosing(view: View, own: Json[]): void {
    for (const keyword of ['additionalProperties', 'unevaluatedProperties']) {
      for (const schema of own) {
        const rest = schema[keyword];
        if (rest === undefined) continue;
        if (rest !== false) {
          addKeyword(view, keyword, rest);
          continue;
        }
        view.closed = true;
        const refused = [...view.properties.keys()].filter((name) => !(name in asJson(schema['properties'])));
        if (refused.length > 0) addKeyword(view, `${keyword} refuses`, refused);
      }
    }
  }

  /** `anyOf: [{type: a}, {type: b}]` is `type: [a, b]`. */
  #joinPlainBranches(view: View): void {
    const branches = view.branches.map((branch) => this.view(branch));
    const plain = branches.every(
      (branch) =>
        branch.types.length > 0 &&
        branch.values === undefined &&
        branch.properties.size === 0 &&
        branch.items === undefined &&
        Object.keys(branch.keywords).length === 0,
    );
    if (branches.length === 0 || !plain || view.types.length > 0) return;
    view.types = [...new Set(branches.flatMap((branch) => branch.types))].sort();
    view.branches = [];
  }
}

function addKeyword(view: View, key: string, value: unknown): void {
  const same = !(key in view.keywords) || isDeepStrictEqual(view.keywords[key], value);
  view.keywords[key] = same ? value : { conflict: [view.keywords[key], value] };
}

function typesOf(schema: Json): string[] {
  const type = schema['type'];
  return (Array.isArray(type) ? asArray(type) : [type]).map(String);
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Number.isInteger(value)) return 'integer';
  return Array.isArray(value) ? 'array' : typeof value;
}
