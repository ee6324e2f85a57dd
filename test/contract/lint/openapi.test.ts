// What the schema of OpenAPI refuses and Redocly misses.
import { expect, it } from 'vitest';
import { metaSchemaFaults } from '../../../scripts/lint/meta-schema.ts';
import { sourcesOf } from '../../support/lint-yaml.ts';

const parameter = (text: string) => `name: id\nschema: { type: string }\n${text}\n`;
const required = 'A path parameter needs `required: true`.';

it.each([
  ['a parameter', parameter('in: path\nrequired: true'), []],
  ['a path parameter that is not required', parameter('in: path'), [`3: ${required}`]],
  ['a path parameter that need not be there', parameter('in: path\nrequired: false'), [`4: ${required}`]],
  [
    'a style of queries in a path',
    parameter('in: path\nrequired: true\nstyle: deepObject'),
    ['5: `style: deepObject` is not allowed here. Write matrix, label or simple.'],
  ],
  [
    'a style of paths in a query',
    parameter('in: query\nstyle: simple'),
    ['4: `style: simple` is not allowed here. Write form, spaceDelimited, pipeDelimited or deepObject.'],
  ],
  [
    'a keyword of queries in a header',
    parameter('in: header\nallowReserved: true'),
    ['4: `allowReserved` is not allowed here. Remove it.'],
  ],
])('%s', (_what, text, messages) => {
  const found = metaSchemaFaults(sourcesOf({ 'components/parameters/Id.yaml': text }));
  expect(found.map(({ line, message }) => `${line}: ${message}`)).toEqual(messages);
});

it('a style of queries in a header of a response', () => {
  const text = 'description: x\nheaders:\n  X-Id:\n    style: form\n    schema: { type: string }\n';
  expect(metaSchemaFaults(sourcesOf({ 'components/responses/Ok.yaml': text }))).toMatchObject([
    { line: 4, message: '`style: form` is not allowed here. Write simple.' },
  ]);
});
