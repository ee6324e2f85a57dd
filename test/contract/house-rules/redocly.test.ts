// Redocly's own rules: those with a message of ours, and which of them must be on, because we have none for it.
import { expect, it } from 'vitest';
import { configOf, operation, testRule } from '../../support/lint-yaml.ts';

testRule('operation-summary', {
  'no summary': operation('tags: [Refunds]').replace(
    'get:',
    '$& #! This operation has no summary, the title that the docs list it by. Add one, such as "summary: List transactions".',
  ),
});

testRule('path-http-verbs-order', {
  'get before post': `
paths:
  /refunds:
    get: {}
    post: {} #! Put post before get, then put, patch and delete.
`,
});

testRule('request-mime-type', {
  'a body that is not JSON': operation(
    'requestBody:\n  content:\n    application/xml: {} #! This API uses application/json only.',
  ),
});

testRule('response-mime-type', {
  'an answer that is not JSON': operation(
    "responses:\n  '500':\n    content:\n      application/problem+json: {} #! This API uses application/json only.",
  ),
});

testRule('operation-4xx-response', {
  'no answer for a faulty delivery': `
webhooks:
  refund.created:
    post:
      responses: { '204': {} } #! 4XX
`,
});

type Setting = string | { severity: string };

it('those that we rely on are errors', async () => {
  const { rules } = (await configOf()) as unknown as { rules: { oas3_1: Record<string, Setting> } };
  const on = Object.entries(rules.oas3_1).flatMap(([name, setting]) =>
    (typeof setting === 'string' ? setting : setting.severity) === 'error' ? [name] : [],
  );
  expect(on).toEqual(
    expect.arrayContaining([
      ...[
        'struct',
        'no-unresolved-refs',
        'no-unused-components',
        'security-defined',
        'component-name-unique',
      ],
      ...['no-invalid-media-type-examples', 'no-invalid-parameter-examples', 'no-invalid-schema-examples'],
      ...['no-enum-type-mismatch', 'no-duplicated-enum-values'],
      ...['operation-operationId', 'operation-2xx-response'],
      ...['operation-tag-defined', 'operation-singular-tag', 'operation-parameters-unique'],
      ...['path-parameters-defined', 'array-parameter-serialization'],
    ]),
  );
});
