// Neutral badges for card schemes. The schemes' logos are trademarks, so we do not use them.
import type { Express } from 'express';
import { badgePath, schemeNames } from './rules.ts';

export function drawBadge(name: string): string {
  const size = Math.min(13, Math.floor(100 / name.length) + 2);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="96" height="60" viewBox="0 0 96 60" role="img" aria-label="${name}">
<rect x="1" y="1" width="94" height="58" rx="8" fill="#f7f8fa" stroke="#9aa3af" stroke-width="2"/>
<rect x="1" y="12" width="94" height="9" fill="#d5dae1"/>
<text x="48" y="44" text-anchor="middle" font-family="system-ui, sans-serif" font-weight="600" font-size="${size}" fill="#1f2937">${name}</text>
</svg>
`;
}

export function serveBadges(app: Express): void {
  for (const [scheme, name] of Object.entries(schemeNames)) {
    const drawing = Buffer.from(drawBadge(name));
    app.get(badgePath(scheme), (_req, res) => {
      res.type('image/svg+xml; charset=utf-8').set('Cache-Control', 'public, max-age=86400').send(drawing);
    });
  }
}
