// The house rules that cannot be configured in redocly.yaml, and the preprocessor that lets examples share their parts.
// Redocly imports plugins without a TypeScript loader, so this folder is JavaScript.
import { exampleRefs } from './example-refs.js';
import { boundedInput } from './rules/bounded-input.js';
import { componentName } from './rules/component-name.js';
import { described } from './rules/described.js';
import { errorCode, examples, pairedExamples } from './rules/examples.js';
import { idempotencyKey } from './rules/idempotency.js';
import { operationId, snakeCase } from './rules/naming.js';
import { noOrphans } from './rules/no-orphans.js';
import { extensions, listShape, operationScope } from './rules/operations.js';
import { parameterForm } from './rules/parameter-form.js';
import { content, errorSchema, responseHeaders, responseStatus, sharedErrors } from './rules/responses.js';
import { closedObject, portablePattern, resourceType, validSchema } from './rules/schemas.js';

export default () => ({
  id: 'house',
  preprocessors: { oas3: { 'example-refs': exampleRefs } },
  rules: {
    oas3: {
      'operation-id': operationId,
      'snake-case': snakeCase,
      'component-name': componentName,
      'no-orphans': noOrphans,
      'operation-scope': operationScope,
      extensions,
      'list-shape': listShape,
      'parameter-form': parameterForm,
      'idempotency-key': idempotencyKey,
      'shared-errors': sharedErrors,
      content,
      'error-schema': errorSchema,
      'error-code': errorCode,
      'response-headers': responseHeaders,
      'response-status': responseStatus,
      examples,
      'paired-examples': pairedExamples,
      'valid-schema': validSchema,
      'portable-pattern': portablePattern,
      'closed-object': closedObject,
      'resource-type': resourceType,
      described,
      'bounded-input': boundedInput,
    },
  },
});
