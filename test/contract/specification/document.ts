/** Reads the bundled contract and follows its references. */
import { readFileSync } from 'node:fs';

export type Json = Record<string, unknown>;

/** A value of the document and where it stands, as a JSON pointer. */
export interface Place {
  pointer: string;
  value: unknown;
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asJson(value: unknown): Json {
  return isJson(value) ? value : {};
}

export function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

export function childOf(place: Place, key: string): Place {
  const step = key.replaceAll('~', '~0').replaceAll('/', '~1');
  return { pointer: `${place.pointer}/${step}`, value: asJson(place.value)[key] };
}

export class Contract {
  readonly document: Json;

  constructor(document: Json) {
    this.document = document;
  }

  static read(file: string): Contract {
    const document: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return new Contract(asJson(document));
  }

  /** The place that is reached from `start` by these keys, each `$ref` on the way followed. */
  at(keys: string[], start: Place = { pointer: '', value: this.document }): Place {
    return keys.reduce<Place>((place, key) => this.follow(childOf(place, key)), this.follow(start));
  }

  /** The target of a place that is a `$ref`, otherwise the place itself. */
  follow(place: Place): Place {
    const reference = asJson(place.value)['$ref'];
    if (typeof reference !== 'string') return place;
    const keys = reference.slice(2).split('/');
    return this.at(keys.map((key) => decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')));
  }
}
