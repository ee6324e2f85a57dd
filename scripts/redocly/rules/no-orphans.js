// A file that nothing refers to is never linted, never bundled and soon wrong. Redocly's own no-unused-components sees only
// what is written out in the root file.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { inlined } from '../example-refs.js';

export const noOrphans = () => {
  const used = new Set();
  let isWhole = true;
  return {
    ref(node, ctx, target) {
      if (target.node === undefined) isWhole = false;
      // To list a component in the root file is not to use it, except for security, which is used by name.
      const { pointer, source } = ctx.rawLocation;
      if (/^#\/components\/(?!securitySchemes)/.test(pointer)) return;
      used.add(resolve(dirname(source.absoluteRef), node.$ref.split('#')[0]));
    },
    Example(example) {
      if (example && 'value' in example && example.value === undefined) isWhole = false;
    },
    Root: {
      leave(_root, ctx) {
        // Behind a reference that leads nowhere, or in an example that could not be read, may be the users of any file.
        if (!isWhole) return;
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
