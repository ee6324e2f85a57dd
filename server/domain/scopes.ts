// Scopes of tokens and permissions of roles have one form and one rule: `*` stands for every resource, and writing does not
// include reading.

const permission = /^(\*|[a-z0-9]+(-[a-z0-9]+)*)\.(read|write)$/;

export const isPermission = (text: string): boolean => permission.test(text);

export const isScope = (text: string): boolean => text === 'embed' || isPermission(text);

const covers = (granted: readonly string[], needed: string): boolean =>
  granted.includes(needed) || granted.includes(`*.${needed.split('.')[1] ?? ''}`);

/**
 * Whether a token with these scopes, of a pair whose roles allow these permissions, may call an operation that names these
 * alternatives. `embed` opens an operation that names it, but the roles must allow the operation's own scope.
 */
export function isAllowed(
  alternatives: readonly string[],
  scopes: readonly string[],
  permissions: readonly string[],
): boolean {
  const own = alternatives.filter((scope) => scope !== 'embed');
  const byScope =
    own.some((scope) => covers(scopes, scope)) ||
    (alternatives.includes('embed') && scopes.includes('embed'));
  return byScope && own.some((scope) => covers(permissions, scope));
}
