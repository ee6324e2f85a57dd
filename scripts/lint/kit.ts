// The wall around server/kit. It is compiled alone, so it can use nothing that only payments declare. The compiler follows an import out
// of it without a word, so the files that it has read are compared, too.
import { isAbsolute, join, relative } from 'node:path';
import { root } from '../support/root.ts';
import { compile } from './tool.ts';

/** What the kit knows besides itself. */
const outside = [
  'client/json.ts',
  ...['operations.ts', 'types.ts', 'validators.d.ts'].map((file) => `generated/${file}`),
];

export async function compileKit(project = root): Promise<{ ok: boolean; output: string }> {
  const { ok, output } = await compile(join(project, 'tsconfig.kit.json'), '--listFiles');
  const [files, messages] = [[], []] as [string[], string[]];
  for (const line of output.split('\n')) (isAbsolute(line) ? files : messages).push(line);
  const foreign = files
    .map((file) => relative(project, file))
    .filter((file) => !/(^|\/)node_modules\/|^server\/kit\//.test(file) && !outside.includes(file))
    .map((file) => `server/kit imports ${file}, which is not part of the kit: hand it in, or move it there.`);
  // Before the faults of what it should not have read.
  return { ok: ok && foreign.length === 0, output: [...foreign, ...messages].join('\n') };
}
