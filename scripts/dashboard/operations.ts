// What the console shows of the contract: a list of the operations, which is there at once, and what the forms of Scalar need. The
// reference has the texts.
import { resolve } from '../../server/kit/contract/load.ts';
import { itemsOf, type Contract, type Operation } from '../docs/contract.ts';
import { escape } from '../docs/markdown.ts';

const operationsOf = (contract: Contract) => itemsOf(contract).filter(({ isEvent }) => !isEvent);

export function listOperations(contract: Contract): string {
  const items = operationsOf(contract).map(({ method, path, page, operation }) => ({
    tag: operation.tags[0],
    row: `<li><button type="button" data-operation="${operation.operationId}">
<span class="badge ${method.toLowerCase()}">${method}</span>
<strong>${escape(operation.summary)}</strong>
<code>${escape(path)}</code>
</button> <a href="/docs/${page}" aria-label="${escape(`Reference: ${operation.summary}`)}">Reference</a></li>`,
  }));
  const groups = contract.tags.map(({ name }) => ({ name, own: items.filter(({ tag }) => tag === name) }));
  return groups
    .filter(({ own }) => own.length > 0)
    .map(({ name, own }) => `<h2>${escape(name)}</h2>\n<ul>\n${own.map(({ row }) => row).join('\n')}\n</ul>`)
    .join('\n');
}

/** Without references, so without most components. Nobody calls webhooks, and Scalar takes the body from the examples. */
export function contractOfForms(contract: Contract): object {
  const { info, tags, components } = contract;
  const paths: Record<string, Record<string, object>> = {};
  for (const { path, method, operation } of operationsOf(contract))
    (paths[path] ??= {})[method.toLowerCase()] = formOf(contract, operation);
  return {
    openapi: '3.1.0',
    info: { title: info.title, version: info.version },
    tags: tags.map(({ name }) => ({ name })),
    security: Object.keys(components.securitySchemes).map((name) => ({ [name]: [] })),
    paths,
    components: {
      securitySchemes: Object.fromEntries(
        Object.entries(components.securitySchemes).map(([name, scheme]) => [
          name,
          { ...scheme, description: undefined },
        ]),
      ),
    },
  };
}

function formOf(contract: Contract, operation: Operation): object {
  const { operationId, tags, summary, parameters = [], requestBody } = operation;
  const { examples = {} } = requestBody?.content?.['application/json'] ?? {};
  const bodies = Object.entries(examples).map(([name, one]): [string, object] => [
    name,
    resolve(contract, one),
  ]);
  return {
    ...{ operationId, tags, summary },
    parameters: parameters.map((given) => {
      const { description = '', schema, ...parameter } = resolve(contract, given);
      return { ...parameter, description: firstSentence(description), schema: inline(contract, schema) };
    }),
    ...(requestBody && {
      requestBody: { content: { 'application/json': { examples: Object.fromEntries(bodies) } } },
    }),
    responses: { 200: { description: '', content: { 'application/json': {} } } },
  };
}

/** Links to sections and operations lead nowhere in the console. */
const firstSentence = (text: string) =>
  text.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').replace(/(?<=\.)\s.*/s, '');

/** Schemas of parameters are small, and in no circles. */
function inline(contract: Contract, node: unknown): unknown {
  if (Array.isArray(node)) return node.map((one) => inline(contract, one));
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(resolve(contract, node));
  return Object.fromEntries(entries.map(([key, value]) => [key, inline(contract, value)]));
}
