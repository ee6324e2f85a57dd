// Proves that the service can use a contract: every reference resolves, every schema compiles, every example matches its schema,
// and express-openapi-validator accepts every operation. It would notice at the first request, or never.
import type { ErrorObject } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import { compileAt, createAjv } from '../../server/contract/ajv.ts';
import {
  ContractFault,
  operationsOf,
  resolve,
  valueAt,
  type Document,
  type Media,
  type Schema,
} from '../../server/contract/load.ts';
import { createValidator } from '../../server/contract/validator.ts';

export async function proveContract(document: Document): Promise<void> {
  const ajv = createAjv(document);
  const fault =
    firstUnresolved(document) ??
    firstBadSchema(ajv, document) ??
    firstRefSibling(document) ??
    firstBadExample(ajv, document);
  if (fault)
    throw new ContractFault(
      `The contract is faulty: ${fault.problem}\n  at #${fault.pointer}\nFix openapi/, then run: npm run generate`,
    );
  await createValidator(document).callEveryOperation();
}

interface Fault {
  problem: string;
  pointer: string;
}

function firstUnresolved(document: Document): Fault | undefined {
  const visit = (node: unknown, pointer: string): Fault | undefined => {
    if (node === null || typeof node !== 'object') return undefined;
    if ('$ref' in node && typeof node.$ref === 'string') {
      const resolved = node.$ref.startsWith('#/') && valueAt(document, node.$ref) !== undefined;
      if (!resolved) return { problem: `the reference ${node.$ref} does not resolve`, pointer };
    }
    for (const [key, value] of Object.entries(node)) {
      const fault = visit(value, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
      if (fault) return fault;
    }
    return undefined;
  };
  return visit(document, '');
}

// Components come first, so that the message names the faulty component and not a place that uses it.
function firstBadSchema(ajv: Ajv2020, document: Document): Fault | undefined {
  const components = Object.keys(document.components.schemas ?? {}).map(
    (name) => `/components/schemas/${name}`,
  );
  const parameters = parameterPointers(document);
  const bodies = media(document).map((entry) => `${entry.pointer}/schema`);
  for (const pointer of [...components, ...parameters, ...bodies]) {
    const problem = schemaProblem(ajv, document, pointer);
    if (problem) return { problem, pointer };
  }
  return undefined;
}

function parameterPointers(document: Document): string[] {
  const shared = Object.keys(document.components.parameters ?? {}).map(
    (name) => `/components/parameters/${name}/schema`,
  );
  const own = operationsOf(document).flatMap(({ operation, pointer }) =>
    (operation.parameters ?? []).flatMap((parameter, index) =>
      '$ref' in parameter ? [] : [`${pointer}/parameters/${index}/schema`],
    ),
  );
  return [...shared, ...own];
}

function schemaProblem(ajv: Ajv2020, document: Document, pointer: string): string | undefined {
  try {
    const schema = valueAt(document, pointer);
    if (schema === undefined) return 'the schema is missing';
    // Ajv does not validate referenced schemas against the meta-schema when it compiles them.
    if (!ajv.validateSchema(schema as Schema)) {
      return `this schema is invalid (${ajv.errorsText(ajv.errors, { dataVar: 'it' })})`;
    }
    compileAt(ajv, pointer);
    return undefined;
  } catch (error) {
    return `this schema is invalid (${error instanceof Error ? error.message : String(error)})`;
  }
}

// express-openapi-validator ignores keywords next to the `$ref` of a body, and would accept what these keywords forbid.
function firstRefSibling(document: Document): Fault | undefined {
  for (const { operation, pointer } of operationsOf(document)) {
    const { $ref, ...siblings } = operation.requestBody?.content['application/json'].schema ?? {};
    const ignored = Object.keys(siblings).filter((keyword) => keyword !== 'description');
    if ($ref !== undefined && ignored.length > 0)
      return {
        problem: `move ${ignored.join(', ')}, next to the $ref of a body, into the schema ${$ref}`,
        pointer: `${pointer}/requestBody/content/application~1json/schema`,
      };
  }
  return undefined;
}

function firstBadExample(ajv: Ajv2020, document: Document): Fault | undefined {
  for (const { media: entry, pointer } of media(document)) {
    const validate = compileAt(ajv, `${pointer}/schema`);
    for (const [name, example] of Object.entries(entry.examples)) {
      const { value } = resolve<{ value?: unknown }>(document, example);
      if (validate(value)) continue;
      const [error] = validate.errors ?? [];
      const base = example.$ref ? example.$ref.slice(1) : `${pointer}/examples/${name}`;
      return {
        problem: `the example "${name}" does not match its schema: ${messageOf(error)}`,
        pointer: `${base}/value${error?.instancePath ?? ''}`,
      };
    }
  }
  return undefined;
}

const messageOf = (error: ErrorObject | undefined) =>
  `${error?.instancePath || 'it'} ${error?.message ?? ''}`;

function media(document: Document): { media: Media; pointer: string }[] {
  const json = '/content/application~1json';
  const events = Object.entries(document.webhooks).map(([name, item]) => ({
    operation: item.post,
    pointer: `/webhooks/${name}/post`,
  }));
  const requests = [...operationsOf(document), ...events].flatMap(({ operation, pointer }) =>
    operation.requestBody
      ? [
          {
            media: operation.requestBody.content['application/json'],
            pointer: `${pointer}/requestBody${json}`,
          },
        ]
      : [],
  );
  const responses = operationsOf(document).flatMap(({ operation, pointer }) =>
    Object.entries(operation.responses).flatMap(([status, response]) => {
      const { content } = resolve(document, response);
      const base = '$ref' in response ? response.$ref.slice(1) : `${pointer}/responses/${status}`;
      return content ? [{ media: content['application/json'], pointer: `${base}${json}` }] : [];
    }),
  );
  // Shared responses occur in many operations; checking each once is enough.
  return [...new Map([...requests, ...responses].map((entry) => [entry.pointer, entry])).values()];
}
