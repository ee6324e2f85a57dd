// Lint rules for tests and the configuration of vitest, in the form that ESLint and Oxlint share.

const runners = new Set(['it', 'test', 'describe', 'suite', 'vi', 'defineConfig']);

/** The name that a call begins with: `it` of `it.each(…)('…', …)`. */
function rootOf(/** @type {any} */ node) {
  if (node.type === 'CallExpression') return rootOf(node.callee);
  if (node.type === 'TaggedTemplateExpression') return rootOf(node.tag);
  return node.type === 'MemberExpression' ? rootOf(node.object) : node.name;
}

/** The call whose options have this property, also in an object of theirs. */
function callAround(/** @type {any} */ { parent }) {
  return ['ObjectExpression', 'Property'].includes(parent.type) ? callAround(parent) : parent;
}

/** A test that is known to fail, or that passes only now and then, shows nothing. */
const mustPass = {
  /** @param {any} context */
  create(context) {
    const refuse = (/** @type {any} */ node, /** @type {string} */ name) => {
      context.report({
        node,
        message: `Fix what the test finds instead of \`${name}\`, or delete the test.`,
      });
    };
    return {
      MemberExpression(/** @type {any} */ node) {
        if (node.property.name === 'fails' && runners.has(rootOf(node))) refuse(node, 'fails');
      },
      Property(/** @type {any} */ node) {
        const name = node.key.name ?? node.key.value;
        if (name !== 'fails' && name !== 'retry') return;
        const call = callAround(node);
        if (call.type === 'CallExpression' && runners.has(rootOf(call))) refuse(node, name);
      },
    };
  },
};

export default { meta: { name: 'tests' }, rules: { 'must-pass': mustPass } };
