/** Which test files need something that takes long to make, by what they and what they import ask for. */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Whether one of these files, or a module of test/ that it imports, injects what has this name. */
export async function usesInjected(name: string, files: readonly string[]): Promise<boolean> {
  const seen = new Set<string>();
  const uses = async (file: string): Promise<boolean> => {
    if (seen.has(file)) return false;
    seen.add(file);
    // An import in the text of a sample names no file.
    const text = await readFile(file, 'utf8').catch(() => '');
    if (text.includes(`inject('${name}')`)) return true;
    const imported = [...text.matchAll(/(?:from |import\()'(\.[^']+\.ts)'/g)].map(([, path = '']) =>
      resolve(dirname(file), path),
    );
    for (const path of imported) if (path.includes('/test/') && (await uses(path))) return true;
    return false;
  };
  for (const file of files) if (await uses(file)) return true;
  return false;
}
