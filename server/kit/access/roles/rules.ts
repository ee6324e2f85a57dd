// Scopes of tokens and permissions of roles have the same syntax and rules: `*` means every resource, and `write` does not
// include `read`.

const permission = /^(\*|[a-z0-9]+(-[a-z0-9]+)*)\.(read|write)$/;

export const isPermission = (text: string): boolean => permission.test(text);

export const isScope = (text: string): boolean => text === 'embed' || isPermission(text);

const covers = (granted: readonly string[], needed: string): boolean =>
  granted.includes(needed) || granted.includes(`*${needed.slice(needed.indexOf('.'))}`);

/**
 * Whether a token may call an operation. `alternatives` are the scopes in the contract, one of which is needed; `permissions`
 * are those of the key pair's roles. A token with `embed` passes if the operation lists it, but the roles must still allow
 * another scope of the operation.
 */
export const isAllowed = (...facts: Parameters<typeof findLack>): boolean => findLack(...facts) === undefined;

/** What does not allow the call: the scopes of the token, the roles of the key pair, or neither. */
export function findLack(
  alternatives: readonly string[],
  scopes: readonly string[],
  permissions: readonly string[],
): 'scopes' | 'roles' | 'both' | undefined {
  const own = alternatives.filter((scope) => scope !== 'embed');
  const byScope =
    own.some((scope) => covers(scopes, scope)) ||
    (alternatives.includes('embed') && scopes.includes('embed'));
  const byRole = own.some((scope) => covers(permissions, scope));
  if (byScope) return byRole ? undefined : 'roles';
  return byRole ? 'scopes' : 'both';
}
