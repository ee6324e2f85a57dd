// The house rules that assertions in redocly.yaml cannot say, and the preprocessor that lets examples share their parts.
// Redocly imports plugins without a TypeScript loader, so this folder is JavaScript.
import { exampleRefs } from './example-refs.js';
import { boundedInput } from './rules/bounded-input.js';
import { componentName } from './rules/component-name.js';
import { described } from './rules/described.js';
import { errors } from './rules/errors.js';
import { errorCode, exampleStatus, pairedExamples } from './rules/examples.js';
import { idempotencyKey } from './rules/idempotency.js';
import { noOrphans } from './rules/no-orphans.js';
import { extensions, listShape, operationScope } from './rules/operations.js';
import { closedObject, resourceType, validSchema } from './rules/schemas.js';

export default () => ({
  id: 'house',
  preprocessors: { oas3: { 'example-refs': exampleRefs } },
  rules: {
    oas3: {
      'component-name': componentName,
      'no-orphans': noOrphans,
      'operation-scope': operationScope,
      extensions,
      'list-shape': listShape,
      'idempotency-key': idempotencyKey,
      errors,
      'error-code': errorCode,
      'example-status': exampleStatus,
      'paired-examples': pairedExamples,
      'valid-schema': validSchema,
      'closed-object': closedObject,
      'resource-type': resourceType,
      described,
      'bounded-input': boundedInput,
    },
  },
});
