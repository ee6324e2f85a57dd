// A faulty contract is refused before anything is generated from it, with file and line.
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
const prove = (bundle: string) =>
  proveContract({ document: JSON.parse(bundle) as Document, file: 'openapi.json', text: bundle });

it('accepts a bundle', async () => {
  await prove(text);
});

it.each([
  [
    'an unresolved reference',
    'schemas/Refund"',
    'schemas/Refnd"',
    /Refnd does not resolve\n {2}at openapi\.json:4 /,
  ],
  [
    'an invalid schema',
    '"minLength": 13',
    '"minLength": -13',
    /schema is invalid .*minLength.*\n {2}at openapi\.json:9 \(#\/components\/schemas\/Refund/,
  ],
  [
    'an example that does not match',
    '"status": "open"',
    '"status": "shut"',
    /the example "open" does not match its schema: \/status must.*\n {2}at openapi\.json:14 /,
  ],
])('%s is named with file and line', async (_what, from, to, says) => {
  await expect(prove(text.replace(from, to))).rejects.toThrow(says);
});
