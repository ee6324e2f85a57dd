// Variables that look like a setting of ours with a typing error: the service would start without the setting.
import { editDistance } from './rules/edit-distance.ts';
import { fileNameOf, keys, namesWithFiles, secretNames } from './settings.ts';

type Env = Readonly<Record<string, string | undefined>>;

const names: readonly string[] = [
  ...new Set([...keys.map(({ name }) => name), ...secretNames, ...namesWithFiles.map(fileNameOf)]),
];

/** Other programs use it. */
const known = ['PROVIDER'];
const prefix = 'PAYMENTS_';

/** One sentence per variable, without its value. */
export function findMisspelt(env: Env): string[] {
  return Object.entries(env).flatMap(([given, value = '']) => {
    if (value === '' || names.includes(given) || known.includes(given)) return [];
    const meant = names.find(
      (name) => isPrefixed(given, value, name) || isCut(given, name) || isNear(given, name),
    );
    if (meant === undefined) return [];
    const name = meant.replace(/_FILE$/, '');
    const used = [name, fileNameOf(name)].find((one) => names.includes(one) && env[one]);
    const advice = used === undefined ? `did you mean ${meant}?` : `${used} is used; remove ${given}`;
    return [`${given} is not a setting: ${advice}`];
  });
}

/** Kubernetes sets PAYMENTS_PORT and PAYMENTS_METRICS_PORT, too, to an address, where there are services of these names. */
const isPrefixed = (given: string, value: string, name: string): boolean =>
  given === prefix + name && (!name.endsWith('PORT') || /^\d+$/.test(value));

/** `EVENT_RETENTION` for EVENT_RETENTION_DAYS. One word alone, such as DATABASE, is often somebody else's. */
const isCut = (given: string, name: string): boolean =>
  given.includes('_') && name.startsWith(`${given.toUpperCase()}_`);

/** Short names such as PORT are near too many others. */
function isNear(given: string, name: string): boolean {
  const most = name.length < 8 ? -1 : name.length < 10 ? 1 : 2;
  // Other programs have many long variables.
  const [one, other] = [withoutUnderscores(given.toUpperCase()), withoutUnderscores(name)];
  return Math.abs(one.length - other.length) <= most && editDistance(one, other) <= most;
}

const withoutUnderscores = (name: string): string => name.replaceAll('_', '');
