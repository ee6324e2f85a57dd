// Writes generated/answers.ts: what a client receives. Each schema of an answer or an event is an interface, because editors show the
// name of an interface, and of any other type all that is in it. Enumerations are open: a later version of the service may add values.
import { createRequire } from 'node:module';
import type Typescript from 'typescript';
import { resolve } from '../../server/kit/contract/load.ts';
import { operationsOf, type Contract } from './contract.ts';
import { banner, typesText } from './types.ts';

interface Body {
  content?: { 'application/json': { schema: { $ref?: string } } };
}

/** Undefined in the rows for a success without a body. */
type Row = [key: string, schemas: (string | undefined)[]];

export async function answersModule(contract: Contract): Promise<string> {
  const schemas: Record<string, unknown> = { ...contract.components.schemas };
  const answers = operationsOf(contract).map(({ path, method, operation }): Row => {
    const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
    const names = successes.map(([, response]) => nameOf(resolve<Body>(contract, response as Body)));
    return [`${method.toUpperCase()} ${path}`, names];
  });
  const events = Object.entries(contract.webhooks).map(([event, item]): Row => {
    const { requestBody } = (item as { post: { requestBody: Body } }).post;
    const name = nameOf(requestBody) ?? nameOfEvent(event);
    // A payload need not be in a file of its own, and then has no name yet.
    schemas[name] ??= requestBody.content?.['application/json'].schema;
    return [event, [name]];
  });
  const declared = await declare(
    { ...contract, paths: {}, webhooks: {}, components: { schemas } },
    [...answers, ...events].flatMap(([, names]) => names.filter((name) => name !== undefined)),
  );
  const names = [...declared.keys()].sort();
  const table = (rows: Row[]) => rows.map(([key, of]) => `  '${key}': ${of.map(String).join(' | ')};\n`);
  return `${banner}/**
 * A text that a later version of the service sends. Not \`string\`: code cannot compare with it, so a misspelt value does not compile,
 * and comparing with a known one narrows.
 */
export declare enum LaterValue {
  Any = '',
}

${names.map((name) => declared.get(name)).join('\n\n')}

/** The schemas above by name. */
export interface AnswerSchemas {
${table(names.map((name) => [name, [name]])).join('')}}

/** The body of a success. */
export interface Answers {
${table(answers).join('')}}

/** The payload of an event. */
export interface EventPayloads {
${table(events).join('')}}
`;
}

const nameOf = ({ content }: Body): string | undefined =>
  content?.['application/json'].schema.$ref?.replace('#/components/schemas/', '');

const nameOfEvent = (event: string) =>
  `${event.replaceAll(/(?:^|[.-])(.)/g, (_, letter: string) => letter.toUpperCase())}Event`;

/** The declarations of these schemas and of all that they refer to, by name. */
async function declare(contract: Contract, roots: string[]): Promise<Map<string, string>> {
  const text = await typesText(contract);
  const ts = createRequire(import.meta.url)('typescript') as typeof Typescript;
  const source = ts.createSourceFile('types.ts', text, ts.ScriptTarget.Latest, true);
  const memberOf = (node: Typescript.Node | undefined, name: string) =>
    node && (ts.isInterfaceDeclaration(node) || ts.isTypeLiteralNode(node))
      ? node.members.filter(ts.isPropertySignature).find((one) => one.name.getText() === name)
      : undefined;
  const components = source.statements
    .filter(ts.isInterfaceDeclaration)
    .find(({ name }) => name.text === 'components');
  const schemas = memberOf(components, 'schemas')?.type;

  const declared = new Map<string, string>();
  const waiting = [...roots];
  /** As it is there, but for names in place of paths, and open enumerations. */
  const print = (node: Typescript.Node): string => {
    const [, name] = /^components\["schemas"\]\["(\w+)"\]$/.exec(node.getText()) ?? [];
    if (name !== undefined) {
      waiting.push(name);
      return name;
    }
    let [printed, at] = ['', node.getStart()];
    ts.forEachChild(node, (child) => {
      printed += text.slice(at, child.getStart()) + print(child);
      at = child.end;
    });
    printed += text.slice(at, node.end);
    const isText = (one: Typescript.TypeNode) => ts.isLiteralTypeNode(one) && ts.isStringLiteral(one.literal);
    return ts.isUnionTypeNode(node) && node.types.filter(isText).length > 1
      ? `${printed} | LaterValue`
      : printed;
  };
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const member = declared.has(name) ? undefined : memberOf(schemas, name);
    if (!member?.type) continue;
    const comment = text.slice(member.getFullStart(), member.getStart()).trim();
    const [head, end] = ts.isTypeLiteralNode(member.type)
      ? [`export interface ${name} `, '']
      : [`export type ${name} = `, ';'];
    // Printed first, because what it refers to waits then.
    const body = print(member.type);
    // It was eight blanks further right.
    declared.set(name, `${comment}\n${head}${body}${end}`.trim().replaceAll(/^ {8}/gm, ''));
  }
  return declared;
}
