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
