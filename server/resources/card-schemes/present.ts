import type { components } from '../../../generated/types.ts';
import { badgePath, schemeNames, type CardScheme } from './rules.ts';

export const presentCardScheme = (
  id: CardScheme,
  publicUrl: string,
): components['schemas']['CardSchemeDefinition'] => ({
  type: 'card-scheme-definition',
  id,
  icon_url: publicUrl + badgePath(id),
  display_name: schemeNames[id],
});
