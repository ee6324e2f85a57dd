// ESLint rule: a handler throws only errors whose status its operation declares. The compiler cannot see what a function
// throws, and the service would answer 500 instead.
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

/** The codes of `ApiError(a)` and `ApiError(test ? a : b)`. */
const codesIn = (/** @type {any} */ node) => {
  if (node?.type === 'ConditionalExpression')
    return [...codesIn(node.consequent), ...codesIn(node.alternate)];
  return node?.type === 'Literal' ? [String(node.value)] : [];
};

/** @type {import('eslint').Rule.RuleModule} */
const rule = {
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
      'NewExpression[callee.name="ApiError"]'(node) {
        for (const code of codesIn(node.arguments[0])) {
          const status = statusOf(contract, code);
          // The compiler refuses a code that does not exist.
          if (
            status === '' ||
            (status in operation.responses && !(status in (operation['x-reserved'] ?? {})))
          )
            continue;
          const response = all.find((other) => status in other.operation.responses)?.operation.responses[
            status
          ];
          const name = response?.$ref?.split('/').at(-1) ?? '…';
          context.report({
            node,
            message:
              `${operation.operationId} does not declare ${status}, the status of '${code}': the caller would get 500. ` +
              `Add it below "responses" in ${file}, then run npm run generate:\n` +
              `  '${status}':\n    $ref: ../components/responses/${name}.yaml`,
          });
        }
      },
    };
  },
};

export const declaredErrors = { rules: { 'declared-errors': rule } };
