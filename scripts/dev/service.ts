// The service as `npm run dev` starts it. It opens everything but its port while the one before it still answers, so that nobody
// has to wait for a start.
import { finished } from 'node:stream/promises';
import { readConfig } from '../../server/config.ts';
import { compileResponses } from '../../server/kit/contract/compile.ts';
import { loadContract } from '../../server/kit/contract/load.ts';
import { createValidator } from '../../server/kit/contract/validator.ts';
import { listen } from '../../server/kit/http/listen.ts';
import { runAs } from '../../server/run.ts';
import { startService } from '../../server/start.ts';
import { closedPort, waitsForPort } from './port.ts';

await runAs({
  read: readConfig,
  start: (config, log) => {
    const loaded = loadContract();
    const { document } = loaded;
    // Its operations are not called at the start, because that would delay the start: `generate` has called them.
    const contract = { document, validator: createValidator(document), responses: compileResponses(loaded) };
    return startService(config, log, {
      contract,
      listen: async (...given) => {
        console.log(waitsForPort);
        await finished(process.stdin.resume());
        const listening = await listen(...given);
        return {
          ...listening,
          close: () => {
            const closed = listening.close();
            console.log(closedPort);
            return closed;
          },
        };
      },
    });
  },
  portOption: (port) => `PORT=${port} npm run dev`,
});
