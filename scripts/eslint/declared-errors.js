// ESLint rule: a handler throws only errors whose status its operation declares. The compiler cannot see what a function
// throws, and the service would answer 500 instead.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** @typedef {{ operationId: string, responses: Record<string, { $ref?: string }>, 'x-reserved'?: object }} Operation */
/** @typedef {{ value?: { type?: string, code?: string, status?: number } }} Example */
/** @typedef {{ content?: Record<string, { examples?: Record<string, { $ref?: string }> }> }} Response */
/** @typedef {{ examples: Record<string, Example>, responses: Record<string, Response> }} Components */
/** @typedef {{ paths: Record<string, Record<string, Operation>>, components: Components }} Contract */

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

/** Whether the response has an example with this code. A 422 has none. */
function shows(
  /** @type {Contract} */ { components },
  /** @type {string} */ response,
  /** @type {string} */ code,
) {
  const examples = components.responses[response]?.content?.['application/json']?.examples ?? {};
  return Object.values(examples).some(
    (example) => components.examples[nameOf(example)]?.value?.code === code,
  );
}

/** The responses that operations have for this status, best first: those with an example of the code, then the most used. */
function responsesFor(
  /** @type {Contract} */ contract,
  /** @type {string} */ status,
  /** @type {string} */ code,
) {
  const used = operationsOf(contract).flatMap(({ operation }) => nameOf(operation.responses[status]) || []);
  const rank = (/** @type {string} */ name) =>
    (shows(contract, name, code) ? used.length : 0) + used.filter((other) => other === name).length;
  return [...new Set(used)].sort((a, b) => rank(b) - rank(a));
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
          const place = `the status of '${code}': the caller would get 500.`;
          const [name = '…', ...others] = responsesFor(contract, status, code);
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

export const declaredErrors = { rules: { 'declared-errors': rule } };
