/** Makes resources of the contract in which every free text has a token that can be searched for, however it is escaped. */
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { components as Components } from '../../generated/types.ts';

type Schemas = Components['schemas'];

interface Schema {
  $ref?: string;
  anyOf?: Schema[];
  const?: unknown;
  enum?: unknown[];
  type?: string | string[];
  format?: string;
  pattern?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
}

const { components } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'),
) as { components: { schemas: Record<string, Schema> } };

const tokenPattern = /mk[a-z]{16}/g;

export interface Planted {
  /** A text with a new token, which `fieldsIn` then knows by this name. */
  text: (field: string) => string;
  resource: <Name extends keyof Schemas>(schema: Name) => Schemas[Name];
  /** The names of the fields that the tokens in a text were planted in. */
  fieldsIn: (text: string) => string[];
}

// What JSON, SQL and LIKE escape.
const around = ['"', '\\', "'", '%', '_', 'É', '😀', '{', '\u2028'];

/** `owner` is the beginning of the name of each field. */
export function createPlanted(owner: string): Planted {
  const fieldByToken = new Map<string, string>();
  const text = (field: string): string => {
    // Without digits: some of many could be a card number, which must not be stored as text.
    const letters = randomBytes(8)
      .toString('hex')
      .replaceAll(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)] ?? '');
    const token = `mk${letters}`;
    fieldByToken.set(token, `${owner} ${field}`);
    const mark = around[fieldByToken.size % around.length] ?? '';
    return `${mark} ${token} ${mark}`;
  };
  const make = (schema: Schema, field: string): unknown => {
    if (schema.$ref) return make(components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, field);
    if (schema.anyOf) return make(schema.anyOf.find(({ type }) => type !== 'null') ?? {}, field);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return schema.enum[0];
    if (schema.properties)
      return Object.fromEntries(
        Object.entries(schema.properties).map(([name, one]) => [
          name,
          make(one, field === '' ? name : `${field}.${name}`),
        ]),
      );
    if (schema.items) return [make(schema.items, field)];
    const [type] = [schema.type ?? []].flat();
    if (type === 'integer') return 700 + fieldByToken.size;
    if (type === 'boolean') return false;
    if (schema.format === 'uuid') return randomUUID();
    if (schema.format === 'date-time') return '2026-11-01T10:30:00.123Z';
    if (schema.format === 'uri') return `https://shop.example/${encodeURIComponent(text(field))}`;
    const { pattern } = schema;
    return pattern && !pattern.includes('\\u0000')
      ? ['EUR', 'DE', '12/39'].find((one) => new RegExp(pattern).test(one))
      : text(field);
  };
  const fieldsIn = (given: string) => [
    ...new Set((given.match(tokenPattern) ?? []).flatMap((token) => fieldByToken.get(token) ?? [])),
  ];
  return {
    text,
    resource: (schema) => make({ $ref: schema }, '') as never,
    fieldsIn: (given) => fieldsIn(given).sort(),
  };
}
