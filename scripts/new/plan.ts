// What one call of `npm run new` does: files to write, files to edit, and what is left for people.
import { writeFileSync } from 'node:fs';
import { access, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { formatted } from '../generate/format.ts';

export interface Plan {
  /** New files, by path within the project. */
  write: Record<string, string>;
  /** Existing files. */
  edit: Record<string, (text: string) => string | Promise<string>>;
  /** What the author does next. */
  next: string[];
}

/** Says what is wrong with the call, and what to write instead. */
export class Refusal extends Error {}

export const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** Nothing is written unless everything can be. Returns the files. */
export async function carryOut(root: string, { write, edit }: Plan): Promise<string[]> {
  for (const file of Object.keys(write))
    if (await exists(join(root, file)))
      throw new Refusal(`${file} exists already. Edit it, or choose another name.`);
  const contents = new Map(Object.entries(write));
  for (const [file, change] of Object.entries(edit))
    contents.set(file, await change(await readFile(join(root, file), 'utf8')));
  for (const file of contents.keys()) await mkdir(dirname(join(root, file)), { recursive: true });
  // At once, because `npm run dev` reads the contract when it changes. In between, files would refer to others that do not exist
  // yet, or nothing would refer to them.
  for (const [file, content] of contents) writeFileSync(join(root, file), content);
  return [...contents.keys()];
}

/** Lists and statements may have become longer than a line. */
export async function formattedPlan({ write, edit, next }: Plan): Promise<Plan> {
  const made: Plan = { write: {}, edit: {}, next };
  for (const [file, text] of Object.entries(write)) made.write[file] = await formatted(text, file);
  for (const [file, change] of Object.entries(edit))
    made.edit[file] = async (text) => formatted(await change(text), file);
  return made;
}
