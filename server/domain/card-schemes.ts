// The card schemes of the specification: their names, and neutral badges of our own drawing.
import type { components } from '../../generated/types.ts';

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

export const badgePath = (scheme: string): string => `/assets/card-schemes/${scheme}.svg`;

/** A card's outline with the name on it. No scheme's own mark: those are not ours to draw. */
export function badge(name: string): string {
  const size = Math.min(13, Math.floor(100 / name.length) + 2);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="96" height="60" viewBox="0 0 96 60" role="img" aria-label="${name}">
<rect x="1" y="1" width="94" height="58" rx="8" fill="#f7f8fa" stroke="#9aa3af" stroke-width="2"/>
<rect x="1" y="12" width="94" height="9" fill="#d5dae1"/>
<text x="48" y="44" text-anchor="middle" font-family="system-ui, sans-serif" font-weight="600" font-size="${size}" fill="#1f2937">${name}</text>
</svg>
`;
}
