// A reference that leads nowhere, and what was meant.
import { swap } from '../../support/contract-copy.ts';
import { testLint } from '../../support/lint-yaml.ts';

const refund = 'components/schemas/Refund.yaml';
const none = 'there is no such file. Did you mean';

testLint({
  'the other faults beside it': {
    'paths/refunds.yaml': (text) =>
      text
        .replace('/Limit.yaml', `/Limt.yaml #! ${none}`)
        .replace('List refunds', 'list refunds #! Begin the summary with a capital letter'),
    [refund]: swap('./Timestamp.yaml', `./Timstamp.yaml #! ${none}`),
    'components/schemas/Status.yaml': swap(
      'type: string',
      'type: string\nmaxItems: 3 #! `maxItems` is for an array',
    ),
  },
});

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
});

testLint({
  'a file of another folder': {
    [refund]: swap('./Timestamp.yaml', `../examples/Timestamp.yaml #! ${none} ./Timestamp.yaml?`),
  },
  'a place in a file': {
    'components/schemas/RefundCheck.yaml': swap(
      './RefundById.yaml',
      './RefundById.yaml#/propertis #! there is no "propertis" in ./RefundById.yaml. Did you mean properties?',
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
});

// Not "Did you mean ./cardType.yaml?", because the next rule would refuse that name.
testLint({
  'a file whose own name is wrong': {
    'components/schemas/cardType.yaml': 'description: A type.\ntype: string\nmaxLength: 9\n',
    [refund]: swap(
      './Timestamp.yaml',
      `./CardType.yaml #! Can't resolve $ref ./CardType.yaml: there is no such file. Rename ./cardType.yaml to CardType.yaml.`,
    ),
  },
});

const leadsNowhere = 'This link leads nowhere: ';
testLint({
  'links to headings and operations that do not exist': {
    '../docs/guides/languages.md': '# Languages\n\n## Sign a token\n',
    'introduction.md': `
# Getting started

See [limits](#section/Rate-limits), [the same](#section/rate-limits), [a list](#operation/listRefunds).
See [limits](#section/Rate-limit). #! ${leadsNowhere}#section/Rate-limit. Did you mean #section/Rate-limits?
See [a list](#operation/listRefund). #! ${leadsNowhere}#operation/listRefund. Did you mean #operation/listRefunds?
See [limits](#limits). #! ${leadsNowhere}#limits. Link to a heading of openapi/introduction.md as #section/The-heading
See [a guide](/docs/guides/languages.html#sign-a-token), [another page](/docs/guides/client.html#languages).
See [a guide](/docs/guides/languages.html#sign-token). #! Did you mean /docs/guides/languages.html#sign-a-token?
See [a comment](#section/Not-a-heading). #! ${leadsNowhere}#section/Not-a-heading.

\`\`\`sh
# Not a heading
\`\`\`

## Rate limits
`,
    'components/schemas/Status.yaml': swap(
      'of it.',
      `of it. See [that](#section/Getting-start). #! ${leadsNowhere}#section/Getting-start. Did you mean #section/Getting-started?`,
    ),
  },
});
