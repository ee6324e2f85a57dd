/** Reads a Dockerfile and a .dockerignore, as far as ours need it; what they do not use is refused. */

export interface Instruction {
  name: string;
  /** Such as `--from=build`, by name. */
  flags: Record<string, string>;
  text: string;
}

export interface Stage {
  base: string;
  alias: string | undefined;
  instructions: Instruction[];
}

export function parseDockerfile(text: string): Stage[] {
  const lines = text.replaceAll(/^\s*#.*\n/gm, '').replaceAll(/\\\n\s*/g, '');
  const stages: Stage[] = [];
  for (const line of lines.split('\n').filter((one) => one.trim() !== '')) {
    const [, name = '', options = '', rest = ''] = /^([A-Z]+)((?:\s+--\S+)*)\s+(.+)$/.exec(line) ?? [];
    if (name === '') throw new Error(`Not an instruction: ${line}`);
    if (name === 'FROM') {
      const [base = '', , alias] = rest.split(/\s+/);
      stages.push({ base, alias, instructions: [] });
      continue;
    }
    const flags = [...options.matchAll(/--([a-z-]+)=(\S+)/g)].map(([, flag = '', value = '']) => [
      flag,
      value,
    ]);
    const instruction = { name, flags: Object.fromEntries(flags) as Record<string, string>, text: rest };
    stages.at(-1)?.instructions.push(instruction);
  }
  return stages;
}

/** The words of `["node", "main.js"]`. The form without brackets would start a shell, which does not forward signals. */
export function wordsOf(text: string): string[] {
  const words: unknown = JSON.parse(text);
  if (!Array.isArray(words)) throw new Error(`Not a list of words: ${text}`);
  return words.map(String);
}

/** Says which paths, relative to the folder of the .dockerignore, are left out. The last matching line decides. */
export function parseDockerignore(text: string): (path: string) => boolean {
  const rules = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const isKept = line.startsWith('!');
      return { isKept, pattern: toPattern(isKept ? line.slice(1) : line) };
    });
  return (path) => {
    const deciding = rules.findLast(({ pattern }) => pattern.test(path));
    return deciding !== undefined && !deciding.isKept;
  };
}

/** A line is about a path and everything below it. */
function toPattern(glob: string): RegExp {
  const source = glob
    .split('/')
    .map((part) =>
      part === '**' ? '**' : part.replaceAll(/[.+^$()|{}]/g, String.raw`\$&`).replaceAll('*', '[^/]*'),
    )
    .join('/')
    .replaceAll('**/', '(?:.*/)?');
  return new RegExp(`^${source}(?:/|$)`);
}
