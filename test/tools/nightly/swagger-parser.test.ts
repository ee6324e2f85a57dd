// swagger-parser, with which Orval and other generators and importers read contracts, finds ours valid.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { installed } from '../../support/installed.ts';
import { root } from '../../support/processes.ts';

interface SwaggerParser {
  validate: (file: string) => Promise<{ openapi: string }>;
}

it.each(['openapi/openapi.yaml', 'generated/openapi.json'])('validates %s', async (source) => {
  const folder = await installed('@apidevtools/swagger-parser', '13.0.0');
  const { default: parser } = (await import(pathToFileURL(join(folder, 'lib/index.js')).href)) as {
    default: SwaggerParser;
  };
  expect(await parser.validate(join(root, source))).toMatchObject({ openapi: '3.1.0' });
});
