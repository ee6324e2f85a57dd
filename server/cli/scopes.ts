// Which scopes and permissions can be of use. The service accepts any resource in a token, so a typing mistake would only be
// noticed as a 403 much later.
import { operations } from '../../generated/operations.ts';
import { editDistance } from '../rules/edit-distance.ts';

const resourceOf = (scope: string): string => scope.slice(0, scope.indexOf('.'));

/** Those that operations need, without `embed`. */
export const contractScopes: readonly string[] = [
  ...new Set(Object.values(operations).flatMap(({ scopes }) => [...scopes] as string[])),
]
  .filter((scope) => scope.includes('.'))
  .sort();

const resources = [...new Set(contractScopes.map(resourceOf))];

/** Undefined for a scope of a resource of the API, or of all; otherwise a sentence that says what could be meant. */
export function unknownResource(scope: string): string | undefined {
  const resource = resourceOf(scope);
  if (scope === 'embed' || resource === '*' || resources.includes(resource)) return undefined;
  const near = resources.find((known) => editDistance(known, resource) <= 3);
  return near === undefined
    ? `${scope} is of no resource of the API. Resources: ${resources.join(', ')}.`
    : `${scope} is of no resource of the API. Did you mean ${near}${scope.slice(resource.length)}?`;
}

/** Undefined for a scope that some operation needs; otherwise a sentence that says what could be meant. */
export function uselessScope(scope: string): string | undefined {
  if (scope === 'embed' || scope.startsWith('*.') || contractScopes.includes(scope)) return undefined;
  const others = contractScopes.filter((known) => resourceOf(known) === resourceOf(scope));
  return unknownResource(scope) ?? `No operation needs ${scope}. Did you mean ${others.join(' or ')}?`;
}
