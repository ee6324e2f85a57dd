// info.version of the contract is the version of everything. These files repeat it, because npm and readers of Arazzo look for it
// there; the release writes it.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

// Of the first package that they name, and of the same in the list of a lock file.
const npm = /(?<=^\{\n +"name": "[^"]+",\n +"version": "|"": \{\n +"name": "[^"]+",\n +"version": ")[^"]+/g;
const places: Record<string, RegExp> = {
  'package.json': npm,
  'package-lock.json': npm,
  'docs/workflows/payments.arazzo.yaml': /(?<=^ {2}version: ).+/gm,
};

/** The files that say another version, with what they should contain. */
export async function outdated(project: string, version: string): Promise<[file: string, text: string][]> {
  const files = await Promise.all(
    Object.entries(places).map(async ([file, place]): Promise<[string, string, string]> => {
      const text = await readFile(join(project, file), 'utf8').catch(() => '');
      return [file, text, text.replaceAll(place, version)];
    }),
  );
  return files.flatMap(([file, text, wanted]) => (text === wanted ? [] : [[file, wanted]]));
}

/** Returns the files that it changed. */
export async function writeVersion(project: string, version: string): Promise<string[]> {
  const files = await outdated(project, version);
  for (const [file, text] of files) await writeFile(join(project, file), text);
  return files.map(([file]) => file);
}
