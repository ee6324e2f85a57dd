// What to write instead, where Redocly only says that something is wrong.
import { isMap, isScalar, isSeq } from 'yaml';
import { steps } from './did-you-mean.ts';
import type { Reported } from './problem.ts';
import type { Sources } from './sources.ts';

export function withRemedy(problem: Reported, sources: Sources): Reported {
  const path = steps(problem.pointer);
  const { document } = sources.get(problem.file) ?? {};
  if (problem.rule === 'operation-tag-defined') return aboutTag(problem, document?.getIn(path), sources);
  if (problem.rule === 'security-defined') {
    const schemes = sources
      .get('openapi/openapi.yaml')
      ?.document.getIn(['components', 'securitySchemes'], true);
    return { ...problem, suggest: isMap(schemes) ? schemes.items.map(({ key }) => String(key)) : [] };
  }
  // Redocly reports it unless it is beside a $ref, where house/valid-schema does.
  if (problem.rule !== 'struct' && problem.rule !== 'house/valid-schema') return problem;
  const keyword = path.at(-1);
  const value = document?.getIn(path);
  if (keyword === 'required' && typeof value === 'boolean')
    return { ...problem, message: aboutRequired(path, value) };
  if (keyword !== 'nullable' || problem.rule !== 'struct') return problem;
  return { ...problem, message: aboutNullable(value, document?.getIn(path.slice(0, -1), true)) };
}

function aboutNullable(nullable: unknown, schema: unknown): string {
  const none = 'OpenAPI 3.1 has no `nullable`.';
  if (nullable !== true) return `${none} Remove it: a value is null only if its type says so.`;
  const type = isMap(schema) ? schema.get('type', true) : undefined;
  const names = isSeq(type) ? type.items.map(String) : isScalar(type) ? [String(type.value)] : [];
  if (names.length === 0) return `${none} Add "- type: 'null'" to \`anyOf\` instead.`;
  if (names.includes('null')) return `${none} Remove it: the type says so.`;
  const more = isMap(schema) && schema.has('enum') ? ', and add null to `enum`' : '';
  return `${none} Write instead of both lines: type: [${[...names, "'null'"].join(', ')}]${more}`;
}

/** `path` ends with properties, its name and `required`, unless it is that of an item or alternative. */
function aboutRequired(path: string[], isRequired: boolean): string {
  if (!isRequired)
    return 'Remove this line: only properties that the object lists in its `required` are required.';
  const [map, name] = path.slice(-3);
  const list = '`required` is a list of names, written once for the object, above its `properties`.';
  return map === 'properties' ? `${list} Add \`${name}\` to it, and remove this line.` : list;
}

function aboutTag(problem: Reported, tag: unknown, sources: Sources): Reported {
  const declared = sources.get('openapi/openapi.yaml')?.document.get('tags', true);
  const names = isSeq(declared)
    ? declared.items.map((one) => (isMap(one) ? String(one.get('name')) : ''))
    : [];
  if (typeof tag !== 'string') {
    const message = `This operation has no tag, the section of the docs that shows it. Add one, such as "tags: [${names[0]}]".`;
    return { ...problem, message };
  }
  const message = `The tag \`${tag}\` is not declared. Use one of those below \`tags\` in openapi/openapi.yaml, or declare it there.`;
  return { ...problem, message, suggest: names };
}
