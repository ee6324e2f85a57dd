import type { components } from '../../../generated/types.ts';

export type CardScheme = components['schemas']['CardScheme'];

export const schemeNames: Readonly<Record<CardScheme, string>> = {
  accel: 'Accel',
  amex: 'American Express',
  bancontact: 'Bancontact',
  'carte-bancaire': 'Carte Bancaire',
  cirrus: 'Cirrus',
  culiance: 'Culiance',
  dankort: 'Dankort',
  'diners-club': 'Diners Club',
  discover: 'Discover',
  'eftpos-australia': 'eftpos Australia',
  elo: 'Elo',
  hipercard: 'Hipercard',
  jcb: 'JCB',
  maestro: 'Maestro',
  mastercard: 'Mastercard',
  mir: 'Mir',
  nyce: 'NYCE',
  other: 'Other',
  pulse: 'Pulse',
  rupay: 'RuPay',
  star: 'STAR',
  uatp: 'UATP',
  unionpay: 'UnionPay',
  visa: 'Visa',
};

/** The public URL goes in front. */
export const badgePath = (scheme: string): string => `/assets/card-schemes/${scheme}.svg`;

export const presentCardScheme = (
  id: CardScheme,
  publicUrl: string,
): components['schemas']['CardSchemeDefinition'] => ({
  type: 'card-scheme-definition',
  id,
  icon_url: publicUrl + badgePath(id),
  display_name: schemeNames[id],
});
