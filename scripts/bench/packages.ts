// Packages that only the bench needs. They are installed into .cache/, never into the project.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const peerVersions = { fastify: '5.12.8' };

/** Undefined, or why they cannot be installed. */
export function installPackages(folder: string): string | undefined {
  const installed = (name: string) => {
    const file = join(folder, 'node_modules', name, 'package.json');
    return existsSync(file) && (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  };
  if (Object.entries(peerVersions).every(([name, version]) => installed(name) === version)) return undefined;
  mkdirSync(folder, { recursive: true });
  // Otherwise npm looks for the project in the folders above.
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const names = Object.entries(peerVersions).map(([name, version]) => `${name}@${version}`);
  try {
    execFileSync(
      'npm',
      ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', ...names],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    return undefined;
  } catch (error) {
    return `${names.join(', ')} could not be installed: ${String((error as { stderr?: unknown }).stderr).trim()}`;
  }
}
