// Scopes and permissions as options. The service accepts any resource in a token, so a typing mistake would only be noticed as a
// 403 much later.
import { InvalidArgumentError } from 'commander';
import { operations } from '../../generated/operations.ts';
import { list } from './values.ts';

const resourceOf = (scope: string): string => scope.slice(0, scope.indexOf('.'));

/** Those that operations need, without `embed`. */
export const contractScopes: readonly string[] = [
  ...new Set(Object.values(operations).flatMap(({ scopes }) => [...scopes] as string[])),
]
  .filter((scope) => scope.includes('.'))
  .sort();

const resources = [...new Set(contractScopes.map(resourceOf))];

/** A parser of scopes that are separated by commas. `forms` says what is accepted. */
export const scopesLike =
  (isScope: (word: string) => boolean, forms: string) =>
  (text: string): string[] => {
    const given = list(text);
    const wrong = given.filter((word) => !isScope(word));
    if (given.length > 0 && wrong.length === 0) return given;
    throw new InvalidArgumentError(
      `Not so: ${wrong.join(', ') || 'an empty list'}. Separate by commas: ${forms}.`,
    );
  };

/** Undefined for a scope of a resource of the API, or of all. */
export function unknownResource(scope: string): string | undefined {
  if (scope === 'embed' || ['*', ...resources].includes(resourceOf(scope))) return undefined;
  return `${scope} is of no resource of the API. Resources: ${resources.join(', ')}.`;
}

/** Undefined for a scope that some operation needs. */
export function uselessScope(scope: string): string | undefined {
  if (scope === 'embed' || scope.startsWith('*.') || contractScopes.includes(scope)) return undefined;
  const others = contractScopes.filter((known) => resourceOf(known) === resourceOf(scope));
  return unknownResource(scope) ?? `No operation needs ${scope}. Did you mean ${others.join(' or ')}?`;
}
