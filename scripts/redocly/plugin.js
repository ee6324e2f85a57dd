// The house rules that redocly.yaml cannot express by configuration, and the preprocessor that lets examples share
// their parts. Redocly loads plugins with plain `import`, so this folder is JavaScript. No file access but example-refs.
import { exampleRefs } from './example-refs.js';
import { examples, pairedExamples } from './rules/examples.js';
import { componentName, operationId, snakeCase } from './rules/naming.js';
import { extensions, listShape, operationScope, sharedErrors } from './rules/operations.js';
import { boundedInput, closedObject, described, resourceType } from './rules/schemas.js';

export default () => ({
  id: 'house',
  preprocessors: { oas3: { 'example-refs': exampleRefs } },
  rules: {
    oas3: {
      'operation-id': operationId,
      'snake-case': snakeCase,
      'component-name': componentName,
      'operation-scope': operationScope,
      extensions,
      'resource-type': resourceType,
      'closed-object': closedObject,
      'list-shape': listShape,
      'shared-errors': sharedErrors,
      examples,
      'paired-examples': pairedExamples,
      described,
      'bounded-input': boundedInput,
    },
  },
});
