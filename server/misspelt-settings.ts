// Variables that look like a setting of ours with a typing error: the service would start without the setting.
import { editDistance } from './domain/edit-distance.ts';
import { fileNameOf, keys, namesWithFiles, secretNames } from './settings.ts';

type Env = Readonly<Record<string, string | undefined>>;

const names: readonly string[] = [
  ...new Set([...keys.map(({ name }) => name), ...secretNames, ...namesWithFiles.map(fileNameOf)]),
];

/** Other programs use these. */
const known = ['LOGLEVEL', 'DATADIR', 'PROVIDER'];
const prefix = 'PAYMENTS_';

/** One sentence per variable, without its value. `has`: whether a setting is given, by its name or in a file. */
export function findMisspelt(env: Env, has: (name: string) => boolean): string[] {
  return Object.entries(env).flatMap(([given, value = '']) => {
    if (value === '' || names.includes(given) || known.includes(given)) return [];
    const meant = names.find((name) => isPrefixed(given, value, name) || isNear(given, name));
    // With both, the other one is somebody else's.
    if (meant === undefined || has(meant.replace(/_FILE$/, ''))) return [];
    return [`${given} is not a setting: did you mean ${meant}?`];
  });
}

/** Kubernetes sets PAYMENTS_PORT, too, to an address, where there is a service named payments. */
const isPrefixed = (given: string, value: string, name: string): boolean =>
  given === prefix + name && (name !== 'PORT' || /^\d+$/.test(value));

/** Short names such as PORT are near too many others. */
function isNear(given: string, name: string): boolean {
  const most = name.length < 8 ? -1 : name.length < 10 ? 1 : 2;
  // Other programs have many long variables.
  return Math.abs(given.length - name.length) <= most && editDistance(given.toUpperCase(), name) <= most;
}
