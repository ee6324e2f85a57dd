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
        for (const [file, advice] of unusedIn(texts, home)) {
          ctx.report({
            message: advice,
            location: { source: new Source(file, texts.get(file)), pointer: '#/' },
          });
        }
      },
    },
  };
};

/** Each with what to do. A path that is not mapped will use the files that it refers to as soon as it is. */
function unusedIn(texts, home) {
  const partsOf = (file) =>
    [...texts.get(file).matchAll(/\$ref:\s*["']?([^"'#\s]+)/g)]
      .map(([, ref]) => resolve(dirname(file), ref))
      .filter((one) => texts.has(one));
  const unmapped = [...texts.keys()].filter((file) => adviceOnMap(relative(home, file)));
  const needed = new Set(unmapped);
  // A set goes on to what is added meanwhile.
  for (const file of needed) for (const one of partsOf(file)) needed.add(one);
  const components = [...texts.keys()].filter((file) => !needed.has(file));
  const parts = new Set(components.flatMap(partsOf));
  return [
    ...unmapped.map((file) => [file, adviceOnMap(relative(home, file))]),
    ...components.map((file) => [
      file,
      parts.has(file)
        ? 'Only unused files refer to this file. It goes with them.'
        : 'Nothing refers to this file. Refer to it, or delete it; npm run lint -- --delete-unused deletes all unused components.',
    ]),
  ];
}

function adviceOnMap(file) {
  const [, folder, name] = /^(paths|webhooks)[/\\](.+)\.yaml$/.exec(file) ?? [];
  if (folder === undefined) return undefined;
  // The name of a path parameter has underscores of its own.
  const key = folder === 'paths' ? `/${name.replaceAll(/_(?![^{]*\})/g, '/')}` : name;
  return `Nothing refers to this file. Map it in openapi/openapi.yaml, below \`${folder}:\`, or delete it:\n  ${key}:\n    $ref: ./${folder}/${name}.yaml`;
}
