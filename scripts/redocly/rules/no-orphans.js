// A file that nothing refers to is neither linted nor bundled, so it goes stale. Redocly's own no-unused-components checks
// only the components of the root file.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

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
    Root: {
      leave(_root, ctx) {
        // An unresolved reference may hide references to any file, so report nothing.
        if (!isComplete) return;
        const home = dirname(ctx.location.source.absoluteRef);
        const Source = ctx.location.source.constructor;
        const texts = new Map(
          ['paths', 'webhooks', 'components']
            .filter((folder) => existsSync(join(home, folder)))
            .flatMap((folder) =>
              readdirSync(join(home, folder), { recursive: true })
                .sort()
                .map((name) => join(home, folder, name)),
            )
            .filter((file) => file.endsWith('.yaml') && !used.has(file))
            .map((file) => [file, readFileSync(file, 'utf8')]),
        );
        for (const file of withoutParts(texts)) {
          ctx.report({
            message: `Nothing refers to this file. ${adviceFor(relative(home, file))}`,
            location: { source: new Source(file, texts.get(file)), pointer: '#/' },
          });
        }
      },
    },
  };
};

/** Without the files that another of them refers to: those are used as soon as that one is. All, if they form a circle. */
function withoutParts(texts) {
  const parts = new Set(
    [...texts].flatMap(([file, text]) =>
      [...text.matchAll(/\$ref:\s*["']?([^"'#\s]+)/g)].map(([, ref]) => resolve(dirname(file), ref)),
    ),
  );
  const files = [...texts.keys()];
  const roots = files.filter((file) => !parts.has(file));
  return roots.length > 0 ? roots : files;
}

function adviceFor(file) {
  const [, folder, name] = /^(paths|webhooks)[/\\](.+)\.yaml$/.exec(file) ?? [];
  if (folder === undefined) return 'Delete it, or refer to it.';
  // The name of a path parameter has underscores of its own.
  const key = folder === 'paths' ? `/${name.replaceAll(/_(?![^{]*\})/g, '/')}` : name;
  return `Map it in openapi/openapi.yaml, below \`${folder}:\`, or delete it:\n  ${key}:\n    $ref: ./${folder}/${name}.yaml`;
}
