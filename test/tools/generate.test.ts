// A bad contract is neither generated from nor served; other prose needs no other validators. What `npm run generate` writes is tested in changes.test.ts.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, inject, it } from 'vitest';
import { keptValidators, validatorsOf } from '../../scripts/generate/fresh-validators.ts';
import { root } from '../../scripts/support/root.ts';
import { brokenProject, swap } from '../support/contract-copy.ts';
import { run } from '../support/processes.ts';

it('a bad contract stops generate and npm start, naming file and line, and nothing is written', async () => {
  await using project = await brokenProject(
    { 'components/schemas/Amount.yaml': swap('type: integer', 'type: integr') },
    join(root, 'test/fixtures/refunds/openapi'),
  );
  for (const part of ['server', 'client', 'generated', 'tsconfig.json'])
    await cp(join(root, part), join(project.folder, part), { recursive: true });
  // Before it starts, it generates if openapi/ has changed.
  const { status, output } = await run('npm', ['start'], { cwd: project.folder, env: { PORT: '0' } });
  expect(status).toBe(1);
  expect(output).toMatch(
    /^openapi\/components\/schemas\/Amount\.yaml:2:\d+ struct\n {2}2 \| type: integr\n/m,
  );
  expect(output).toContain('Nothing was generated');
  // Redocly's advice, which would hide the faults.
  expect(output).not.toContain('generate-ignore-file');
  const bundle = (folder: string) => readFile(join(folder, 'generated/openapi.json'), 'utf8');
  expect(await bundle(project.folder)).toBe(await bundle(root));
});

it('a bad bundle, as in a broken deployment, stops the server with the reason', async () => {
  // Next to the compiled project, so that Node finds the packages from there.
  const deployment = await mkdtemp(`${inject('compiled')}-`);
  await cp(inject('compiled'), deployment, { recursive: true });
  await writeFile(join(deployment, 'generated/openapi.json'), '{');
  const main = join(deployment, 'server/main.js');
  const { status, output } = await run(process.execPath, [main], { env: { PORT: '0' } });
  await rm(deployment, { recursive: true });
  expect(JSON.parse(output)).toMatchObject({
    reason: expect.stringMatching(/openapi\.json is not valid JSON/) as string,
  });
  expect(output).not.toMatch(/at .*\.[jt]s:\d+/);
  expect(status).toBe(1);
});

it('after a change of prose the validators are kept, as if they were compiled anew; after any other they are not', async () => {
  const before = await readFile(join(root, 'generated/openapi.json'), 'utf8');
  const changed = (change: (contract: Contract) => unknown) => {
    const contract = JSON.parse(before) as Contract;
    change(contract);
    return `${JSON.stringify(contract, null, 2)}\n`;
  };
  const prose = changed(({ components }) => (components.schemas.Buyer.description = 'Other words.'));
  // Without their text, which has 100,000 characters, in the message.
  expect(keptValidators(root, prose) === (await validatorsOf(root, prose))).toBe(true);
  const others = [
    changed(({ components }) => (components.schemas.Buyer.type = 'array')),
    // A field of an example is no prose: it must match the schema.
    changed(({ components }) => (components.examples.ErrorForbidden.value.description = 'Other words.')),
  ];
  for (const other of others) expect(keptValidators(root, other) === undefined).toBe(true);
});

it('the tests that it writes use what every API has, and no records of payments', async () => {
  const { metafile } = await build({
    ...{ absWorkingDir: root, entryPoints: ['test/support/operation.ts', 'test/support/valid-request.ts'] },
    ...{ bundle: true, platform: 'node', format: 'esm', packages: 'external', outdir: 'unused' },
    ...{ write: false, metafile: true },
  });
  const inSupport = Object.entries(metafile.inputs).filter(([file]) => file.startsWith('test/'));
  const used = inSupport.flatMap(([, { imports }]) => imports.map(({ path }) => path));
  expect(used).toContain('test/support/kit-records.ts');
  expect(used.filter((path) => /^server\/(resources|providers)\//.test(path))).toEqual([]);
});

interface Contract {
  components: {
    schemas: { Buyer: { description: string; type: string } };
    examples: { ErrorForbidden: { value: { description?: string } } };
  };
}
