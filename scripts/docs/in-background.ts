// Started by regenerate-if-stale.ts: builds the docs beside the service, and says how that ended in lines like those of its log. To
// standard error, because standard output has the service's own.
import { join } from 'node:path';
import { createLog } from '../../server/kit/log/log.ts';
import { toTerminal } from '../../server/kit/log/terminal.ts';
import { kitSettings } from '../../server/kit/settings.ts';
import { buildDocs } from '../docs.ts';
import { root } from '../support/root.ts';

const { parse, default: usual } = kitSettings.LOG_LEVEL;
const { stderr } = process;
const log = createLog(
  parse(process.env.LOG_LEVEL ?? '') ?? usual,
  stderr.isTTY ? toTerminal(stderr) : stderr,
);

await buildDocs(join(root, 'site'), join(root, 'pages')).then(
  () => {
    log.debug('the docs are built');
  },
  (error: unknown) => {
    log.warn({ err: error }, 'the docs were not built');
    process.exitCode = 1;
  },
);
