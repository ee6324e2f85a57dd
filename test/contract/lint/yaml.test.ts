// Faults of YAML's syntax: tabs, colons and the empty file in our words, the others in those of the parser.
import { it } from 'vitest';
import { expectYaml } from '../../support/lint-yaml.ts';

const compare = 'Compare the indentation, quotes and brackets of this line with those above it.';

it.each(
  Object.entries({
    'an empty file': '#! This file is empty. Write it, or delete it.',
    'a tab': `
required:
\t- type #! YAML does not allow tabs for indentation. Replace the tab by two spaces.
`,
    'a missing colon after the key of a list': `
type: object
required #! A colon is missing. Write: required:
  - id
`,
    'a missing colon before a value': `
properties:
  id:
    description: An ID.
    type string #! A colon is missing. Write: type: string
`,
    'a colon in a value without quotes': `
description: Don't: never. #! The value of description contains a colon, so it needs quotes. Write: description: 'Don''t: never.'
`,
    'a missing space after the colon': `
description: An address.
type:object #! A space is missing after the colon. Write: type: object
`,
    'a line that is indented too deep': `
type:
  description: A type. #! Nested mappings are not allowed in compact mappings. ${compare}
    const: refund
`,
    'a name that is written twice': `
id: {}
name: {}
id: {} #! This name is there already, further up in the same map. Remove one of the two, or correct its name or indentation.
`,
    'a conflict of Git': `
description: A type.
<<<<<<< HEAD #! Git left a conflict here. Choose between its two sides, and remove the lines <<<<<<<, ======= and >>>>>>>.
type: string
=======
type: integer
>>>>>>> main
`,
    'a missing dash': `
required:
  - type
  id #! All mapping items must start at the same column. ${compare}
  - name
`,
  }),
)('%s', (_name, text) => {
  expectYaml(text);
});
