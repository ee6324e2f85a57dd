// The chart of docs/benchmarks.md: CPU per request for a page of 20, of Node and of PostgreSQL, one bar per subject.
import { median, titleOf, type Row } from './report.ts';

const width = 940;
const labelWidth = 430;
const barWidth = 310;
const rowHeight = 30;
const top = 78;

const escape = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export function drawChart(rows: readonly Row[]): string {
  const bars = rows
    .filter(({ measure }) => measure === 'page')
    .map(({ subject, node, database, value }) => ({
      label: titleOf(subject),
      ...{ node: median(node), database: median(database), perSecond: median(value).toFixed(0) },
      ours: subject === 'ours' ? ' ours' : '',
    }));
  const most = Math.max(...bars.map(({ node, database }) => node + database));
  const length = (milliseconds: number) => Number(((milliseconds / most) * barWidth).toFixed(1));
  const heading = 'A page of 20 transactions: CPU per request';
  const described = bars.map(
    ({ label, node, database, perSecond }) =>
      `${label}: ${(node + database).toFixed(2)} ms (Node ${node.toFixed(2)}, PostgreSQL ${database.toFixed(2)}), ${perSecond} requests a second.`,
  );
  const drawn = bars.map(({ label, node, database, perSecond, ours }, index) => {
    const y = top + index * rowHeight;
    const sum = node + database;
    return `  <text class="label${ours}" x="${labelWidth - 10}" y="${y + 15}">${escape(label)}</text>
  <rect class="node${ours}" x="${labelWidth}" y="${y}" width="${length(node)}" height="20"/>
  <rect class="database${ours}" x="${labelWidth + length(node)}" y="${y}" width="${length(database)}" height="20"/>
  <text class="value${ours}" x="${labelWidth + length(sum) + 8}" y="${y + 15}">${sum.toFixed(2)} ms · ${perSecond} requests/s</text>`;
  });
  const height = top + bars.length * rowHeight + 14;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description">
  <title id="title">${heading}</title>
  <desc id="description">${escape(described.join(' '))}</desc>
  <style>
    text { font: 13px system-ui, sans-serif; fill: #24292f; }
    .heading { font-size: 17px; font-weight: 600; }
    .label { text-anchor: end; }
    text.ours { font-weight: 600; }
    .node { fill: #8c959f; } .database { fill: #d0d7de; }
    .node.ours { fill: #0969da; } .database.ours { fill: #80ccff; }
    .ground { fill: #ffffff; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .node { fill: #768390; } .database { fill: #444c56; }
      .node.ours { fill: #4493f8; } .database.ours { fill: #1f4b7d; }
      .ground { fill: #0d1117; }
    }
  </style>
  <rect class="ground" width="${width}" height="${height}"/>
  <text class="heading" x="20" y="30">${heading}</text>
  <rect class="node" x="20" y="44" width="14" height="14"/><text x="40" y="56">Node</text>
  <rect class="database" x="90" y="44" width="14" height="14"/><text x="110" y="56">PostgreSQL</text>
  <text x="200" y="56">Shorter is better. Blue: this project.</text>
${drawn.join('\n')}
</svg>
`;
}
