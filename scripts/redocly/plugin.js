// The house rules that assertions in redocly.yaml cannot say.
// Redocly imports plugins without a TypeScript loader, so this folder is JavaScript.
import { alwaysPresent } from './rules/always-present.js';
import { boundedInput } from './rules/bounded-input.js';
import { componentName } from './rules/component-name.js';
import { described } from './rules/described.js';
import { errors } from './rules/errors.js';
import { consistentExamples, plainExamples } from './rules/example-values.js';
import { errorCode, exampleStatus, pairedExamples } from './rules/examples.js';
import { idempotencyKey } from './rules/idempotency.js';
import { noOrphans } from './rules/no-orphans.js';
import { docsList, extensions, listShape, operationScope, pathWords } from './rules/operations.js';
import { closedObject, resourceType, validSchema } from './rules/schemas.js';
import { amount, enumValue, eventName, keywordType, time } from './rules/values.js';

export default () => ({
  id: 'house',
  rules: {
    oas3: {
      'component-name': componentName,
      'no-orphans': noOrphans,
      'path-words': pathWords,
      'operation-scope': operationScope,
      'docs-list': docsList,
      extensions,
      'list-shape': listShape,
      'idempotency-key': idempotencyKey,
      errors,
      'error-code': errorCode,
      'example-status': exampleStatus,
      'paired-examples': pairedExamples,
      'plain-examples': plainExamples,
      'consistent-examples': consistentExamples,
      'valid-schema': validSchema,
      'closed-object': closedObject,
      'resource-type': resourceType,
      described,
      'bounded-input': boundedInput,
      'keyword-type': keywordType,
      'enum-value': enumValue,
      amount,
      time,
      'event-name': eventName,
      'always-present': alwaysPresent,
    },
  },
});
