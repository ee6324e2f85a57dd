import type { Handler, Result } from '../../generated/operations.ts';
import { badgePath, schemeNames, type CardScheme } from '../domain/card-schemes.ts';
import type { Deps } from './deps.ts';

export const listCardSchemeDefinitions: Handler<'listCardSchemeDefinitions', Deps> = (
  _input,
  { publicUrl },
): Promise<Result<'listCardSchemeDefinitions'>> => {
  const items = (Object.entries(schemeNames) as [CardScheme, string][]).map(([id, display_name]) => ({
    type: 'card-scheme-definition' as const,
    id,
    icon_url: publicUrl + badgePath(id),
    display_name,
  }));
  return Promise.resolve({ status: 200, body: { items } });
};
