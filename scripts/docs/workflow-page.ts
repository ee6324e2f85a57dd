// The page of a workflow of docs/workflows/, which `npm run check` runs: as Markdown, each step with its command and answer.
import { resolve } from '../../server/kit/contract/load.ts';
import { itemsOf, serverOf, type Contract } from './contract.ts';
import { code } from './fields.ts';
import { compact, fence } from './operation-page.ts';

interface Given {
  in: string;
  name: string;
  value: unknown;
}

interface Step {
  stepId: string;
  description: string;
  /** With the name of its description before it: `payments.listTransactions`. */
  operationId: string;
  parameters?: Given[];
  requestBody?: { payload: unknown };
  successCriteria: { condition: string }[];
  outputs?: Record<string, string>;
}

export interface Workflow {
  workflowId: string;
  summary: string;
  description: string;
  inputs: { properties: Record<string, { description: string }> };
  parameters: Given[];
  steps: Step[];
}

export function workflowPage(contract: Contract, workflow: Workflow): string {
  const { summary, description, inputs, steps } = workflow;
  const needed = Object.entries(inputs.properties).map(
    ([name, one]) => `- ${code(`$${variable(name)}`)}: ${one.description}.`,
  );
  const parts = steps.flatMap((step, at) => [
    `## ${at + 1}. ${step.stepId.replace(/^./, (first) => first.toUpperCase()).replaceAll('-', ' ')}`,
    step.description,
    ...commandOf(contract, workflow, step),
    ...answerOf(contract, steps, step),
  ]);
  return `${[`# ${summary}`, `${description}.`, 'Set first:', needed.join('\n'), ...parts].join('\n\n')}\n`;
}

/** Undefined if it is not of the contract, but of the receiver. */
function itemOf(contract: Contract, { operationId }: Step) {
  const [source, id] = operationId.split('.');
  const item = itemsOf(contract).find(({ operation }) => operation.operationId === id);
  if (source !== 'receiver' && !item)
    throw new Error(`The contract has no operation ${id}, which a workflow calls`);
  return item;
}

/** What the receiver of events got is no command. */
function commandOf(contract: Contract, { parameters, steps }: Workflow, step: Step): string[] {
  const { method, path, operation } = itemOf(contract, step) ?? {};
  if (!operation) return [];
  const { stepId, requestBody, outputs = {} } = step;
  const taken = (operation.parameters ?? []).map((one) => resolve(contract, one).name);
  const given = [...parameters, ...(step.parameters ?? [])].filter(
    ({ name }) => name === 'Authorization' || taken.includes(name),
  );
  const of = (place: string, option: string, sign: string) =>
    given
      .filter((one) => one.in === place)
      .map(({ name, value }) => `${option} "${inShell(`${name}${sign}${String(value)}`)}"`);
  const query = of('query', '--data-urlencode', '=');
  const body = requestBody && inShell(compact(requestBody.payload)).replaceAll(/\$\w+/g, `'"$&"'`);
  const later = JSON.stringify(steps.map((one) => [one.parameters, one.requestBody]));
  const kept = Object.entries(outputs).filter(([name]) => later.includes(`$steps.${stepId}.outputs.${name}`));
  const flags = [
    kept.length > 0 ? ' -s' : '',
    step.successCriteria.some(({ condition }) => condition.includes('$response.header')) ? ' -i' : '',
    query.length > 0 ? ' -G' : method === 'GET' ? '' : ` -X ${method}`,
  ];
  const options = [
    `curl${flags.join('')} '${serverOf(contract)}${path}'`,
    ...of('header', '-H', ': '),
    ...query,
    ...(body ? [`-H 'Content-Type: application/json'`, `-d '${body}'`] : []),
  ];
  const lines = [
    options.join(' \\\n  ') + (kept.length > 0 ? ` | tee ${stepId}.json` : ''),
    ...kept.map(
      ([name, from]) =>
        `${variable(name)}=$(node -p "JSON.parse(fs.readFileSync('${stepId}.json')).${inWords(from, steps).replaceAll('`', '')}")`,
    ),
  ];
  return [`[${operation.summary}](#operation/${operation.operationId}):`, fence('sh', lines.join('\n'))];
}

/** What must be true, and of the first example what that names or later steps need. */
function answerOf(contract: Contract, steps: Step[], step: Step): string[] {
  const { operation } = itemOf(contract, step) ?? {};
  const conditions = step.successCriteria.map(({ condition }) => condition);
  const [, status = ''] = /^\$statusCode == (\d+)$/m.exec(conditions.join('\n')) ?? [];
  const [, event = ''] = /^\$response\.body#\/name == '(.+)'$/m.exec(conditions.join('\n')) ?? [];
  const answer = operation?.responses?.[status] ?? contract.webhooks?.[event]?.post?.requestBody;
  const [example] = Object.values(resolve(contract, answer)?.content?.['application/json']?.examples ?? {});
  // Of an earlier step the example has another value.
  const named = [
    ...conditions.filter((one) => !one.includes('$steps.')),
    ...Object.values(step.outputs ?? {}),
  ];
  const pointers = named.flatMap((one) => /^\$response\.body#\/(\S+)/.exec(one)?.slice(1) ?? []);
  const shown = compact(
    partOf(
      resolve(contract, example)?.value,
      pointers.map((one) => one.split('/')),
    ),
  );
  return [
    // The status of a receiver is what it answers to us.
    `**Expected:** ${conditions
      .filter((one) => operation || !one.includes('$statusCode'))
      .map((one) => inWords(one, steps))
      .join(', ')}.`,
    ...(pointers.length > 0 ? [fence('json', shown.replace(/(\s*)}$/, ',$1…$1}'))] : []),
  ];
}

/** Only what the pointers lead to. */
function partOf(value: unknown, pointers: string[][]): unknown {
  if (value === null || typeof value !== 'object') return value;
  const parts = Object.entries(value).flatMap(([key, one]) => {
    const inside = pointers.flatMap(([first, ...rest]) => (first === key ? [rest] : []));
    return inside.length > 0 ? [[key, partOf(one, inside)] as const] : [];
  });
  return Array.isArray(value) ? parts.map(([, one]) => one) : Object.fromEntries(parts);
}

const variable = (name: string) => name.toUpperCase().replaceAll('-', '_');

/** Inputs, and what earlier steps returned, as variables. */
const inShell = (value: string) =>
  value.replaceAll(
    /\{?\$(?:inputs|steps\.[\w-]+\.outputs)\.([\w-]+)\}?/g,
    (_, name: string) => `$${variable(name)}`,
  );

/** A condition or a value of Arazzo: see https://spec.openapis.org/arazzo/v1.0.1.html#runtime-expressions. */
function inWords(expression: string, steps: Step[]): string {
  const [, left, sign, right] = /^(\S+) (==|!=) (\S+)$/.exec(expression) ?? [];
  if (left && right)
    return `${inWords(left, steps)} is ${sign === '==' ? '' : 'not '}${inWords(right, steps)}`;
  const [, constant] = /^'?([^'$]+)'?$/.exec(expression) ?? [];
  if (constant) return code(constant);
  if (expression === '$statusCode') return 'the HTTP status';
  const [, header] = /^\$response\.header\.(.+)$/.exec(expression) ?? [];
  if (header) return `the header ${code(header)}`;
  const [, pointer] = /^\$response\.body#\/(.+)$/.exec(expression) ?? [];
  if (pointer) return code(pointer.replaceAll(/\/(\d+)/g, '[$1]').replaceAll('/', '.'));
  const [, stepId, name = ''] = /^\$steps\.([\w-]+)\.outputs\.([\w-]+)$/.exec(expression) ?? [];
  const at = steps.findIndex((one) => one.stepId === stepId);
  const from = steps[at]?.outputs?.[name];
  if (from) return `the ${inWords(from, steps)} of step ${at + 1}`;
  throw new Error(`There are no words for ${expression}: see scripts/docs/workflow-page.ts`);
}
