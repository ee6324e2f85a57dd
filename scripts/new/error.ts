// `npm run new -- error card_limit_reached --in createPaymentMethod`: the code, an example of its body, and the response that
// shows it. A response that no operation has fails the lint.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { append, insertBefore, replaceAt, todo } from './contract-text.ts';
import { kebab, mustMatch, pascal, sentence, spoken } from './names.ts';
import { Refusal, type Plan } from './plan.ts';
import { component, operationsIn, readSchema, type Project } from './project.ts';
import { errorResponse } from './responses.ts';

/** The service answers these before a handler is called, or they have no code. */
const refused: Partial<Record<string, string>> = {
  401: 'The service answers 401 itself, before a handler is called.',
  405: 'The service answers 405 itself, before a handler is called.',
  422: "A 422 has no code: throw new ApiError('unprocessable', { detail: [{ loc, msg, type }] }), as readPage of server/handlers/deps.ts does.",
  425: 'The service answers 425 itself, before a handler is called.',
};

export async function newError(
  project: Project,
  code: string,
  options: { in?: string | undefined; status?: string | undefined },
): Promise<Plan> {
  mustMatch(/^[a-z]+(_[a-z0-9]+)*$/, code, 'A code is in snake_case: error card_limit_reached');
  const { in: id, status = '409' } = options;
  if (id === undefined)
    throw new Refusal(`Name the operation that answers with it: error ${code} --in createPaymentMethod`);
  mustMatch(/^(4\d\d|50[234])$/, status, 'Choose the status of a refusal: --status 409');
  const reason = refused[status];
  if (reason !== undefined) throw new Refusal(`${reason} Choose another: --status 409`);
  const { enum: codes = [] } = await readSchema(project, 'ErrorCode');
  const isListed = codes.includes(code);
  if (isListed && (await hasExample(project, code))) throw new Refusal(`The code ${code} exists already.`);
  const all = await operationsIn(project);
  const found = all.find(({ operation }) => operation.operationId === id);
  if (!found)
    throw new Refusal(
      `There is no operation ${id}. These exist: ${all.map(({ operation }) => operation.operationId).join(', ')}`,
    );
  const { file, method, operation } = found;
  if (operation['x-reserved'] && status in operation['x-reserved'])
    throw new Refusal(
      `${file} says below "x-reserved" that ${id} never answers ${status}. Remove it there first.`,
    );

  const example = `Error${pascal(code)}`;
  const shown = `      ${code}:\n        $ref: ../examples/${example}.yaml\n`;
  const showIt = append(['content', 'application/json', 'examples'], shown);
  const ref = operation.responses[status]?.$ref;
  const declared = ref?.replace(/^.*\/|\.yaml$/g, '');
  const isShared = all.some(
    (other) =>
      other !== found &&
      other.operation.responses[status]?.$ref === ref &&
      !(status in (other.operation['x-reserved'] ?? {})),
  );
  const plan: Pick<Plan, 'write' | 'edit'> = {
    write: { [component('examples', example)]: exampleText(code, status) },
    edit: isListed ? {} : { [component('schemas', 'ErrorCode')]: append(['enum'], `  - ${code}\n`) },
  };
  let name = declared ?? pascal(code);
  const refTo = () => `../components/responses/${name}.yaml`;
  const takesKey = operation.parameters?.some(({ $ref }) => $ref?.endsWith('/IdempotencyKey.yaml')) ?? false;
  if (declared === undefined) {
    const later = Object.keys(operation.responses).filter((other) => other > status);
    const lines = `    '${status}':\n      $ref: ${refTo()}\n`;
    plan.write[component('responses', name)] =
      errorResponse(status, `${sentence(spoken(code))}.`, takesKey) + shown;
    plan.edit[file] = insertBefore(later, lines, [method, 'responses']);
  } else if (isShared) {
    // The others do not answer with this code.
    name += id.replace(/^[a-z]+/, '');
    const text = await readFile(join(project.root, component('responses', declared)), 'utf8');
    plan.write[component('responses', name)] = showIt(text);
    plan.edit[file] = replaceAt([method, 'responses', status, '$ref'], refTo());
  } else plan.edit[component('responses', name)] = showIt;

  return {
    ...plan,
    next: [
      `Say what is wrong: ${component('examples', example)}, whose message callers get, and the description of ${component('responses', name)}`,
      `Throw it in server/handlers/${kebab(id)}.ts: throw new ApiError('${code}', { reason: 'for the log' })`,
      `Test it in test/service/operations/${kebab(id)}.test.ts${declared === undefined ? `, which fails until ${status} was seen or is listed below "todo"` : ''}`,
      `Announce it: info.version, and \`${code}\` below "### Contract" in CHANGELOG.md`,
    ],
  };
}

/** A code that is only listed is not finished. The lint says so, and that this command writes the rest. */
async function hasExample({ root }: Project, code: string): Promise<boolean> {
  const folder = join(root, 'openapi/components/examples');
  const files = await readdir(folder);
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.some((text) => text.includes(`code: ${code}\n`));
}

const exampleText = (code: string, status: string) => `summary: ${sentence(spoken(code))}
value:
  type: error
  code: ${code}
  status: ${status}
  message: ${sentence(spoken(code))}${todo('say what is wrong, for callers')}
  details: []
${status === '409' ? '  resource_id: null\n' : ''}`;
