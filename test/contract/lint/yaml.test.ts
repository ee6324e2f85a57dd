// Faults of YAML's syntax, at the line that lacks something, with what to write instead.
import { it } from 'vitest';
import { expectYaml } from '../../support/lint-yaml.ts';

it.each(
  Object.entries({
    'a list that never ends': `
tags: [ #! A [ is opened here and never closed. Close it.
  a
paths: {}
`,
    'a key that is there twice': `
description: A role.
type: object
type: object #! \`type\` is already in line 2. Remove one of the two, or merge them.
`,
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
    'a comment within a text of two lines': `
description: Number # 1 #! A comment begins here, so the next line is no part of the text. Begin the text with >-
  of the list.
`,
    'a missing space after the colon': `
description: An address.
type:object #! A space is missing after the colon. Write: type: object
`,
    'a line that is indented too deep': `
type:
  description: A type.
    const: refund #! Line 3 is indented deeper than line 2, which has a value already. Indent both alike.
`,
    'properties that are not indented at all': `
type: object
properties: #! There is nothing below \`properties:\`. Indent \`type\` and what follows deeper, or this line less.
type:
  type: string
`,
    'a value that begins with a backtick': `
description: \`card\`, always. #! A value that begins with \` needs quotes. Write: description: '\`card\`, always.'
`,
    'a missing dash before a name': `
required:
  - type
  id #! A dash is missing. Write: - id
  - name
`,
    'a missing dash before a reference': `
parameters:
  - $ref: ./Limit.yaml
  $ref: ./Cursor.yaml #! A dash is missing. Write: - $ref: ./Cursor.yaml
`,
    'a key that is indented like the list above it, which is no item without a dash': `
get:
  parameters:
    - $ref: ./Limit.yaml
    responses: #! \`responses\` is beside the items of \`parameters\`. Indent it like \`parameters\`, by 2 spaces; or, if it is an item, begin it with a dash.
      '200': {}
`,
    'a quote that is not closed': `
value:
  name: "Default #! A quote is opened here and never closed. Close it.
  id: 5
`,
  }),
)('%s', (_name, text) => {
  expectYaml(text);
});
