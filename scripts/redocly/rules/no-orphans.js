// A file that nothing refers to is neither linted nor bundled, so it goes stale. Redocly's own no-unused-components checks
// only the components of the root file.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { inlined } from '../example-refs.js';

export const noOrphans = () => {
  const used = new Set();
  let isComplete = true;
  return {
    ref(node, ctx, target) {
      if (target.node === undefined) isComplete = false;
      // Listing a component in the root file does not use it, except security schemes, which are referred to by name.
      const { pointer, source } = ctx.rawLocation;
      if (/^#\/components\/(?!securitySchemes)/.test(pointer)) return;
      used.add(resolve(dirname(source.absoluteRef), node.$ref.split('#')[0]));
    },
    Example(example) {
      if (example && 'value' in example && example.value === undefined) isComplete = false;
    },
    Root: {
      leave(_root, ctx) {
        // An unresolved reference or an unreadable example may hide references to any file, so report nothing.
        if (!isComplete) return;
        const home = dirname(ctx.location.source.absoluteRef);
        const Source = ctx.location.source.constructor;
        for (const folder of ['paths', 'webhooks', 'components'].filter((name) =>
          existsSync(join(home, name)),
        )) {
          for (const name of readdirSync(join(home, folder), { recursive: true }).sort()) {
            const file = join(home, folder, name);
            if (!name.endsWith('.yaml') || used.has(file) || inlined.has(file)) continue;
            const source = new Source(file, readFileSync(file, 'utf8'));
            ctx.report({
              message: 'Nothing refers to this file. Delete it, or refer to it.',
              location: { source, pointer: '#/' },
            });
          }
        }
      },
    },
  };
};
