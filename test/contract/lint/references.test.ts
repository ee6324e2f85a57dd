// A reference that leads nowhere, and what was meant.
import { swap } from '../../support/contract-copy.ts';
import { testLint } from '../../support/lint-yaml.ts';

const refund = 'components/schemas/Refund.yaml';
const none = 'there is no such file. Did you mean';

testLint({
  'a file that does not exist, and not that others lack what was in it': {
    'paths/refunds.yaml': swap(
      '/Limit.yaml',
      `/Limt.yaml #! Can't resolve $ref ../components/parameters/Limt.yaml: ${none} ../components/parameters/Limit.yaml?`,
    ),
  },
  'the line of the reference, below a description': {
    'components/schemas/RefundCheck.yaml': swap(
      'type: object\noneOf:\n  - $ref: ./RefundById.yaml',
      `type: object\noneOf:\n  - description: By ID.\n    $ref: ./RefundByID.yaml #! ${none} ./RefundById.yaml?`,
    ),
  },
  'no extension': {
    [refund]: swap(
      './Timestamp.yaml',
      `./Timestamp #! Can't resolve $ref ./Timestamp: ${none} ./Timestamp.yaml?`,
    ),
  },
  'a value that an example shares': {
    'components/examples/RefundOpen.yaml': swap(
      './BuyerJane.yaml#/value',
      `./BuyerJan.yaml#/value #! ${none} ./BuyerJane.yaml#/value?`,
    ),
  },
});

testLint({
  'a file of another folder': {
    [refund]: swap('./Timestamp.yaml', `../examples/Timestamp.yaml #! ${none} ./Timestamp.yaml?`),
  },
  'a place in the value that an example shares': {
    'components/examples/RefundOpen.yaml': swap(
      './BuyerJane.yaml#/value',
      './BuyerJane.yaml#/vale #! there is no "vale" in ./BuyerJane.yaml. Did you mean value?',
    ),
  },
});

testLint({
  'a component of the root file': {
    [refund]: swap(
      './Timestamp.yaml',
      "'#/components/schemas/Timestamp' #! Can't resolve $ref #/components/schemas/Timestamp: every component is a file. Write ./Timestamp.yaml",
    ),
  },
  'a shared value that is no text, and one that cannot be overridden': {
    'components/examples/BuyerJane.yaml': swap(
      'name: Jane Doe',
      '$ref: 5 #! A $ref must be a string, such as ./Buyer',
    ),
    'components/examples/CheckById.yaml': swap(
      'refund_id: ',
      '$ref: ./ErrorFailed.yaml#/value/code #! is not an object, so it has no properties to override.\n  refund_id: ',
    ),
  },
});

testLint({
  'a reference that is a comment, for lack of quotes': {
    [refund]: swap(
      '$ref: ./Timestamp.yaml',
      '$ref: #/components/schemas/Timestamp #! every component is a file. Write ./Timestamp.yaml',
    ),
  },
});

testLint({
  'a reference to nothing': {
    [refund]: swap(
      '$ref: ./Timestamp.yaml',
      '$ref: #! This $ref is empty. Name a file that exists, relative to',
    ),
  },
});

testLint({
  'a reference that is no text': {
    [refund]: swap('$ref: ./Timestamp.yaml', '$ref: 5 #! Property `$ref` is not expected here'),
  },
  'examples that contain each other': {
    'components/examples/BuyerJane.yaml': swap(
      'Jane Doe',
      '\n    $ref: ./RefundOpen.yaml#/value #! This example contains itself (RefundOpen.yaml → BuyerJane.yaml → RefundOpen.yaml). Replace one',
    ),
  },
});
