// Shows a fault of examples once, with the other places that have it: one new required field is missing in a dozen examples,
// because they are made from each other by $ref.

function groupBy<T>(items: T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/** In the report of `redocly lint`, whose faults begin with `[1] file:line:column`. */
export function groupExampleFaults(report: string): string {
  const blocks = report.split(/^(?=\[\d+\] )/m);
  const groups = groupBy(blocks, (block) => symptomOf(block) ?? block);
  return [...groups.values()].map(([first = '', ...same]) => `${first}${placesOf(same)}`).join('');
}

/** Which part of the example lacks a property is left out. */
const symptomOf = (block: string): string | undefined =>
  /^Example value must conform to the schema: .*$/m
    .exec(block)?.[0]
    .replace(/`[^`]*` property (?=must have required)/, '');

function placesOf(blocks: string[]): string {
  const places = blocks.flatMap((block) => [...block.matchAll(/^\[\d+\] (\S+?):(\d+):/g)]);
  if (places.length === 0) return '';
  const files = groupBy(places, ([, file = '']) => file);
  const lines = [...files].map(([file, found]) => `  ${file}:${found.map(([, , line]) => line).join(', ')}`);
  return `The same fault, often because they refer to one example that has it:\n${lines.join('\n')}\n\n\n`;
}
