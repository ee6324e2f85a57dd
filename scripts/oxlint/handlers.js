// Lint rules for handlers, in the form that ESLint and Oxlint share.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** @typedef {{ operationId: string, responses: Record<string, { $ref?: string }>, 'x-reserved'?: object }} Operation */
/** @typedef {{ value?: { type?: string, code?: string, status?: number } }} Example */
/** @typedef {{ paths: Record<string, Record<string, Operation>>, components: { examples: Record<string, Example> } }} Contract */

const kebab = (/** @type {string} */ id) => id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** @returns {Contract} */
const readContract = () =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'));

/** @param {Contract} contract */
const operationsOf = ({ paths }) =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.values(item)
      .filter(({ operationId }) => operationId !== undefined)
      .map((operation) => ({ path, operation })),
  );

/** A 422 has no code in the contract: `unprocessable` is the service's own word. */
function statusOf(/** @type {Contract} */ contract, /** @type {string} */ code) {
  if (code === 'unprocessable') return '422';
  const example = Object.values(contract.components.examples).find(({ value }) => value?.code === code);
  return String(example?.value?.status ?? '');
}

const nameOf = (/** @type {{ $ref?: string } | undefined} */ reference) =>
  reference?.$ref?.split('/').at(-1) ?? '';

/** Operations that have this status have it from these files; the one that most of them use comes first. */
function responsesFor(/** @type {Contract} */ contract, /** @type {string} */ status) {
  const used = operationsOf(contract).flatMap(({ operation }) => nameOf(operation.responses[status]) || []);
  const count = (/** @type {string} */ name) => used.filter((other) => other === name).length;
  return [...new Set(used)].sort((a, b) => count(b) - count(a));
}

/** The codes of `ApiError(a)` and `ApiError(test ? a : b)`. */
const codesIn = (/** @type {any} */ node) => {
  if (node?.type === 'ConditionalExpression')
    return [...codesIn(node.consequent), ...codesIn(node.alternate)];
  return node?.type === 'Literal' ? [String(node.value)] : [];
};

/**
 * A handler throws only errors whose status its operation declares. The compiler cannot see what a function throws, and the
 * service would answer 500 instead.
 */
const declaredErrors = {
  /** @param {any} context */
  create(context) {
    const contract = readContract();
    const all = operationsOf(contract);
    const here = all.find(
      ({ operation }) => `${kebab(operation.operationId)}.ts` === basename(context.filename),
    );
    if (!here) return {};
    const { operation, path } = here;
    const file = `openapi/paths/${path.slice(1).replaceAll('/', '_')}.yaml`;
    return {
      'NewExpression[callee.name="ApiError"]'(/** @type {any} */ node) {
        for (const code of codesIn(node.arguments[0])) {
          const status = statusOf(contract, code);
          // The compiler refuses a code that does not exist.
          if (
            status === '' ||
            (status in operation.responses && !(status in (operation['x-reserved'] ?? {})))
          )
            continue;
          const place = `the status of '${code}': the caller would get 500.`;
          const [name = '…', ...others] = responsesFor(contract, status);
          const choice = others.length === 0 ? '' : `\nOr, if it fits better: ${others.join(', ')}.`;
          context.report({
            node,
            message:
              status in operation.responses
                ? `${operation.operationId} reserves ${status}, ${place} Remove ${status} below "x-reserved" in ${file}, ` +
                  'then run npm run generate.'
                : `${operation.operationId} does not declare ${status}, ${place} ` +
                  `Paste this below "responses" in ${file}, then run npm run generate:\n` +
                  `    '${status}':\n      $ref: ../components/responses/${name}.yaml${choice}`,
          });
        }
      },
    };
  },
};

const unitOfWork = ['callee.name="inUnitOfWork"', 'callee.property.name="inUnitOfWork"'].map(
  (callee) => `CallExpression[${callee}]`,
);

/** Without an explicit return type, the compiler accepts fields that the contract does not have. */
const statedTypes = {
  /** @param {any} context */
  create(context) {
    const report = (/** @type {string} */ message) => (/** @type {any} */ node) => {
      context.report({ node, message });
    };
    const exported = 'ExportNamedDeclaration > VariableDeclaration > VariableDeclarator';
    return {
      [`${exported} > ArrowFunctionExpression:not([returnType])`]: report(
        "State the return type of a handler: (input, deps): Promise<Result<'operationId'>> =>",
      ),
      [unitOfWork.map((call) => `AwaitExpression > ${call}`).join(', ')]: report(
        'Return the unit of work: its answer was held against the contract before it was committed.',
      ),
      [unitOfWork.map((call) => `${call} > ArrowFunctionExpression:not([returnType])`).join(', ')]: report(
        "State what a unit of work answers: async (unit): Promise<Result<'operationId'>> =>",
      ),
    };
  },
};

export default {
  meta: { name: 'handlers' },
  rules: { 'declared-errors': declaredErrors, 'stated-types': statedTypes },
};
