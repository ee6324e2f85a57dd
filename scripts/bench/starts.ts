// How long programs take until they can be used, each from its bundle.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contractFile, type Programs, type Started } from './programs.ts';
import type { StartTime } from './results.ts';
import { run, startService } from './service.ts';
import { spread } from './statistics.ts';
import { startMock, startPrism } from './subjects.ts';

const titles = {
  fresh: 'sandbox, fresh',
  reopened: 'sandbox, reopened',
  mock: 'our mock',
  prism: 'Prism',
  help: '`payments --help`',
  token: '`payments token`',
};

export async function benchStarts(
  programs: Programs,
  rounds: number,
  progress: (text: string) => void,
): Promise<StartTime[]> {
  const times = Object.keys(titles).map((name) => ({
    name: name as keyof typeof titles,
    all: [] as number[],
  }));
  const add = (name: string, milliseconds: number) =>
    times.find((one) => one.name === name)?.all.push(milliseconds);
  const timed = async (name: string, starting: Promise<Started>) => {
    await using started = await starting;
    add(name, started.milliseconds);
  };
  for (let round = 1; round <= rounds; round += 1) {
    progress(`Start-up: round ${round} of ${rounds}`);
    await using service = await startService(programs);
    add('fresh', service.milliseconds);
    await service.restart();
    add('reopened', service.milliseconds);
    add('token', (await service.payments('token', '--scopes', '*.read')).milliseconds);
    await timed('mock', startMock(programs.mock));
    await timed('prism', startPrism(contractFile));
    const folder = mkdtempSync(join(tmpdir(), 'bench-'));
    add('help', (await run([programs.payments, '--help'], { DATA_DIR: folder })).milliseconds);
    rmSync(folder, { recursive: true });
  }
  return times.map(({ name, all }) => ({ name, title: titles[name], milliseconds: spread(all) }));
}
