// One component per file, in the folder of its kind. The file name becomes the name of the component in the bundle and in
// the generated types. Not in the bundle itself, which openapi-typescript lints with these rules, too.
import { basename, dirname, extname, resolve } from 'node:path';

const folders = {
  PathItem: ['paths', 'webhooks'],
  Schema: ['components/schemas'],
  Parameter: ['components/parameters'],
  Header: ['components/headers'],
  Response: ['components/responses'],
  RequestBody: ['components/requestBodies'],
  Example: ['components/examples'],
  SecurityScheme: ['components/securitySchemes'],
};

const pascal = (name) =>
  name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');

function faultOf(file, kind, key) {
  const name = basename(file, '.yaml');
  const places = folders[kind];
  if (extname(file) !== '.yaml') return `Refer to a whole file in ${places[0]}/, such as PaymentMethod.yaml.`;
  if (!places.some((place) => dirname(file).endsWith(`/${place}`))) {
    return `Move this file to ${places.join('/ or ')}/, the folder of its kind.`;
  }
  const expected = key.replace(/^\//, '').replaceAll('/', '_');
  // A path or event with a wrong name has to be renamed before its file.
  const isNamed = !key.endsWith('/') && !/[A-Z_]/.test(key.replaceAll(/\{[^}]*\}/g, ''));
  if (kind === 'PathItem' && isNamed && name !== expected) {
    return `Name the file after its path or event: "${expected}.yaml" for "${key}".`;
  }
  if (kind !== 'PathItem' && !/^([A-Z][a-z0-9]*)+$/.test(name)) {
    return `Rename the file "${name}.yaml" to "${pascal(name)}.yaml", here and wherever it is referred to.`;
  }
  return undefined;
}

const isBundle = ({ location }) => basename(dirname(location.source.absoluteRef)) !== 'openapi';

export const componentName = () => {
  let isOff = false;
  /** Files with a wrong name: each is reported once, at the first reference. */
  const misnamed = new Set();
  return {
    Root(_root, ctx) {
      isOff = isBundle(ctx);
    },
    PathItem(_item, ctx) {
      if (isOff || ctx.rawNode.$ref !== undefined) return;
      const message =
        'Move this path to a file of its own, in the folder of its kind, and refer to it by $ref.';
      ctx.report({ message, location: ctx.location.key() });
    },
    ref(node, ctx, target) {
      const kind = ctx.type.name;
      // A reference that leads nowhere has another fault.
      if (isOff || !(kind in folders) || target.node === undefined) return;
      const report = (message) => ctx.report({ message, location: ctx.rawLocation.child('$ref') });
      const file = resolve(dirname(ctx.rawLocation.source.absoluteRef), node.$ref).replaceAll('\\', '/');
      const fault = faultOf(file, kind, String(ctx.key));
      if (fault && !misnamed.has(`${file} ${fault}`)) report(fault);
      if (fault) misnamed.add(`${file} ${fault}`);
      const [, key] = /^#\/components\/[^/]+\/([^/]+)$/.exec(ctx.rawLocation.pointer) ?? [];
      if (key && !fault && key !== basename(file, '.yaml')) {
        report(`Give this component the name of its file: "${basename(file, '.yaml')}".`);
      }
    },
  };
};
