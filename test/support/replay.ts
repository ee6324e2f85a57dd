/**
 * Carries out a Dockerfile without a container tool: each stage becomes a folder, in which its COPY and RUN happen. Differences to a
 * container: the image's own files are those of this machine, and `npm ci` is not repeated.
 */
import { chmod, constants, copyFile, cp, mkdir, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { parseDockerfile, parseDockerignore, wordsOf, type Instruction } from './dockerfile.ts';
import { root, run, startCommand, type Child, type Env } from './processes.ts';

export interface Image {
  /** The folder that is `/` in a container. */
  folder: string;
  workdir: string;
  env: Record<string, string>;
  /** Of the form `1000:1000`. */
  user: string;
  command: string[];
  healthCheck: string[];
}

/** Into an empty folder. Returns the image of the last stage, whose files nobody may write. */
export async function replayDockerfile(folder: string): Promise<Image> {
  const stages = parseDockerfile(await readFile(join(root, 'Dockerfile'), 'utf8'));
  const images = new Map<string, Image>();
  let image: Image | undefined;
  for (const [index, { alias = 'last', instructions }] of stages.entries()) {
    image = await baseImage(join(folder, `${index}-${alias}`));
    for (const instruction of instructions) await carryOut(instruction, image, images);
    images.set(alias, image);
  }
  if (!image) throw new Error('The Dockerfile has no stage');
  await protect(image.folder);
  return image;
}

/** Starts a command in the image, with its user, its variables and these, and nothing else of this process. */
export function startInImage(image: Image, [program = '', ...args]: string[], env: Env = {}): Child {
  const variables = Object.entries({ ...image.env, ...env }).map(([name, value]) => `${name}=${value ?? ''}`);
  const [uid = '', gid = ''] = image.user.split(':');
  const user = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs'];
  const asUser = process.getuid?.() === 0 ? ['setpriv', ...user] : [];
  const words = ['-i', ...variables, ...asUser, program, ...args];
  return startCommand('env', words, { cwd: pathIn(image, image.workdir) });
}

/** What of the FROM image our instructions use: Node in the PATH. */
async function baseImage(folder: string): Promise<Image> {
  const bin = join(folder, 'usr/local/bin');
  await mkdir(bin, { recursive: true });
  // A copy, because the user of the container may not be able to enter the folder of the original.
  await copyFile(process.execPath, join(bin, 'node'), constants.COPYFILE_FICLONE);
  const env = { PATH: `${bin}:/usr/local/bin:/usr/bin:/bin` };
  return { folder, workdir: '/', env, user: '0:0', command: [], healthCheck: [] };
}

const pathIn = (image: Image, path: string): string => join(image.folder, resolve(image.workdir, path));

async function carryOut(instruction: Instruction, image: Image, images: Map<string, Image>): Promise<void> {
  const { name, text } = instruction;
  switch (name) {
    case 'WORKDIR':
      image.workdir = text;
      await mkdir(pathIn(image, text), { recursive: true });
      return;
    case 'COPY':
      return carryOutCopy(instruction, image, images);
    case 'RUN':
      return carryOutRun(text, image);
    case 'ENV': {
      const [, variable = '', value = ''] = /^([A-Z_]+)=(\S+)$/.exec(text) ?? [];
      image.env[variable] = value
        .replace('$PATH', image.env.PATH ?? '')
        .replace(image.workdir, pathIn(image, '.'));
      return;
    }
    case 'USER':
      image.user = text;
      return;
    case 'HEALTHCHECK':
      image.healthCheck = wordsOf(text.replace(/^CMD\s+/, ''));
      return;
    case 'CMD':
      image.command = wordsOf(text);
      return;
    case 'EXPOSE':
      return;
    default:
      throw new Error(`The replay does not know ${name}: add it`);
  }
}

async function carryOutCopy({ flags, text }: Instruction, image: Image, images: Map<string, Image>) {
  const paths = text.split(/\s+/);
  const target = paths.pop() ?? '';
  const from = flags.from === undefined ? undefined : images.get(flags.from);
  const isIgnored = parseDockerignore(await readFile(join(root, '.dockerignore'), 'utf8'));
  const filter = (file: string) => file === root || !isIgnored(relative(root, file));
  for (const path of paths) {
    const to = target.endsWith('/') ? join(target, path.slice(path.lastIndexOf('/') + 1)) : target;
    const options = { recursive: true, verbatimSymlinks: true };
    if (from) await cp(pathIn(from, path), pathIn(image, to), options);
    else await cp(join(root, path), pathIn(image, to), { ...options, filter });
  }
}

async function carryOutRun(text: string, image: Image): Promise<void> {
  const cwd = pathIn(image, '.');
  if (text === 'npm ci') {
    // The packages of this checkout, which `npm ci` installed from the same lock file.
    const needed = ['package.json', 'package-lock.json', '.npmrc'];
    const copied = await readdir(cwd);
    if (!needed.every((file) => copied.includes(file))) throw new Error(`npm ci needs ${needed.join(', ')}`);
    return symlink(join(root, 'node_modules'), join(cwd, 'node_modules'));
  }
  const { status, output } = await run('sh', ['-c', text], { cwd, env: image.env });
  if (status !== 0) throw new Error(`RUN ${text} ended with ${status}:\n${output}`);
}

/** As root the files belong to root; otherwise their owner runs the service, and the modes alone must do. */
async function protect(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const file = join(entry.parentPath, entry.name);
    await chmod(file, (await stat(file)).mode & 0o555);
  }
}
