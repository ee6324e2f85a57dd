// How long programs take until they can be used.
import { createSandbox, freePort } from '../support/sandbox.ts';
import type { Row } from './report.ts';
import { createService } from './service.ts';
import { startPrism, startProgram } from './subjects.ts';

export async function benchStarts(rounds: number): Promise<Row[]> {
  const times = new Map<string, number[]>();
  await using reopened = await createService(0);
  // Round 0 bundles the mock and fills the caches of the disk.
  for (let round = 0; round <= rounds; round += 1) {
    const timed = async <T>(name: string, start: () => T | Promise<T>): Promise<T> => {
      const begun = performance.now();
      const started = await start();
      const seconds = (performance.now() - begun) / 1000;
      if (round > 0) times.set(name, [...(times.get(name) ?? []), seconds]);
      return started;
    };
    await using fresh = await createSandbox();
    await timed('fresh', () => fresh.start());
    await timed('reopened', () => reopened.start());
    await timed('token', () => reopened.payments('token', '--scopes', '*.read'));
    await reopened.stop();
    const port = await freePort();
    const mock = ['scripts/run.js', 'mock/main.ts', '--port', String(port)];
    await using _mock = await timed('mock', () => startProgram(mock, port));
    await using _prism = await timed('prism', () => startPrism());
  }
  return [...times].map(([subject, value]) => ({ measure: 'start', subject, unit: 's', value }));
}
