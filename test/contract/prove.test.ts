// A faulty contract is refused before anything is generated from it, with the place in the bundle.
import { expect, it } from 'vitest';
import { proveContract } from '../../scripts/generate/prove.ts';
import type { Document } from '../../server/contract/load.ts';

const text = `{
  "openapi": "3.1.0",
  "paths": { "/refunds": { "get": { "operationId": "listRefunds", "responses": { "200": { "content": { "application/json": {
    "schema": { "$ref": "#/components/schemas/Refund" },
    "examples": { "open": { "$ref": "#/components/examples/Open" } }
  } } } } } } },
  "webhooks": {},
  "components": {
    "schemas": { "Refund": { "type": "object", "properties": {
      "status": { "enum": ["open"] },
      "id": { "type": "string", "minLength": 13 }
    } } },
    "examples": { "Open": { "value": {
      "status": "open"
    } } }
  }
}`;
const prove = (bundle: string) => proveContract(JSON.parse(bundle) as Document);

it('accepts a bundle', async () => {
  await prove(text);
});

it.each([
  [
    'an unresolved reference',
    'schemas/Refund"',
    'schemas/Refnd"',
    /Refnd does not resolve\n {2}at #\/paths\/~1refunds\/get\/responses\/200\/content\/application~1json\/schema\n/,
  ],
  [
    'an invalid schema',
    '"minLength": 13',
    '"minLength": -13',
    /schema is invalid .*minLength.*\n {2}at #\/components\/schemas\/Refund/,
  ],
  [
    'an example that does not match',
    '"status": "open"',
    '"status": "shut"',
    /the example "open" does not match its schema: \/status must.*\n {2}at #\/components\/examples\/Open\/value\/status\n/,
  ],
])('%s is named with its place', async (_what, from, to, says) => {
  await expect(prove(text.replace(from, to))).rejects.toThrow(says);
});
