// One order of imports, so that nobody decides it: Node's own modules, packages, then our files, each by path.

function rank(/** @type {any} */ node) {
  const from = node.source.value;
  if (from.startsWith('node:')) return `0${from}`;
  return from.startsWith('.') ? `2${from}` : `1${from}`;
}

const sorted = {
  meta: { fixable: 'code' },
  /** @param {any} context */
  create(context) {
    return {
      Program(/** @type {any} */ program) {
        const imports = program.body.filter((/** @type {any} */ node) => node.type === 'ImportDeclaration');
        const first = imports.find((node, i) => i > 0 && rank(imports[i - 1]) > rank(node));
        if (!first) return;
        const source = context.sourceCode.getText();
        // A comment travels with the import below it.
        const starts = imports.map((node, i) => (i === 0 ? node.range[0] : imports[i - 1].range[1]));
        const texts = imports.map((node, i) => ({
          key: rank(node),
          text: source.slice(starts[i], node.range[1]).trim(),
        }));
        texts.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
        context.report({
          node: first,
          message: `Sort the imports: npx oxlint --fix.`,
          fix: (/** @type {any} */ fixer) =>
            fixer.replaceTextRange(
              [imports[0].range[0], imports.at(-1).range[1]],
              texts.map(({ text }) => text).join('\n'),
            ),
        });
      },
    };
  },
};

export default { meta: { name: 'imports' }, rules: { sorted } };
