/** What compose.yaml and the unit of systemd say. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from './processes.ts';

interface ComposeService {
  image: string;
  environment: Record<string, string>;
  ports?: string[];
  networks: string[];
  stop_grace_period: string;
  mem_limit: string;
  read_only: boolean;
  tmpfs: string[];
  user?: string;
  init?: boolean;
}

interface Compose {
  services: { payments: ComposeService; database: ComposeService };
  networks: Record<string, { internal?: boolean } | null>;
}

export const readCompose = (): Compose => parse(readFileSync(join(root, 'compose.yaml'), 'utf8')) as Compose;

/** A variable that must be given: `${NAME:?what it is}`. */
const reference = /\$\{(\w+):\?[^}]+\}/g;

/** The variables that compose.yaml takes from `.env`. */
export const namesInDotEnv = ({ services }: Compose): string[] => {
  const values = Object.values(services).flatMap(({ environment }) => Object.values(environment));
  return [...new Set(values.flatMap((value) => [...value.matchAll(reference)].map(([, name = '']) => name)))];
};

export const interpolate = (
  environment: Record<string, string>,
  dotEnv: Record<string, string>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      value.replaceAll(reference, (_, variable: string) => dotEnv[variable] ?? ''),
    ]),
  );

export const unitFile = join(root, 'docs/systemd/payments.service');

/** All values of a directive. */
export const inUnit = (directive: string): string[] =>
  [...readFileSync(unitFile, 'utf8').matchAll(new RegExp(`^${directive}=(.*)$`, 'gm'))].map(
    ([, value = '']) => value,
  );
