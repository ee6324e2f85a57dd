// The sandbox of the scripts soak.ts, bench.ts and workflows.ts.
import { expect, it } from 'vitest';
import { createSandbox } from '../../scripts/support/sandbox.ts';

it('fails with the last lines of a service that did not start', async () => {
  await using sandbox = await createSandbox({ LOG_LEVEL: 'unicorn' });
  await expect(sandbox.start()).rejects.toThrow(/ended\. [^]* answered: nothing[^]*LOG_LEVEL must be/);
});
