// The tables of the introduction that the contract itself knows. In openapi/introduction.md a comment stands for each:
// `<!-- table: scopes -->`, `<!-- table: errors -->` and `<!-- table: events -->`.
import { resolve } from '../../server/kit/contract/load.ts';
import { operationsOf, type Contract } from './contract.ts';

export function withTables(contract: Contract): Contract {
  const tables: Record<string, () => string> = {
    scopes: () => table(heads.scopes, scopes(contract)),
    errors: () => table(heads.errors, errors(contract)),
    events: () => table(heads.events, events(contract)),
  };
  const { description = '' } = contract.info;
  // Its front matter is for the search of the docs.
  const filled = description
    .replace(/^---\n[\s\S]*?\n---\n+/, '')
    .replace(/^<!-- table: (\w+) -->$/gm, (comment, name: string) => tables[name]?.() ?? comment);
  return { ...contract, info: { ...contract.info, description: filled } };
}

const heads = {
  scopes: ['Operation', 'Scope'],
  errors: ['Status', '`code`', 'What happened', 'What to do'],
  events: ['Event', 'When'],
};

/** The introduction of a bundle without its tables, as it was written. */
export const withoutTables = (description: string): string =>
  description
    .split('\n\n')
    .filter((part) => !Object.values(heads).some((head) => part.startsWith(line(head))))
    .join('\n\n');

const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

const table = (head: string[], rows: string[][]): string => {
  // Operations that refer to the same response have the same row.
  return [...new Set([head, head.map(() => '---'), ...rows].map(line))].join('\n');
};

const scopes = (contract: Contract): string[][] =>
  operationsOf(contract).map(({ operation: { operationId, summary, security } }) => [
    `[${summary}](#operation/${operationId})`,
    security
      .flatMap((one) => Object.values(one).flat())
      .map((scope) => `\`${scope}\``)
      .join(' or '),
  ]);

interface Described {
  description: string;
}

interface Response extends Described {
  content?: { 'application/json': { schema: Described; examples?: Record<string, { value?: unknown }> } };
}

/** What a response says first is what happened; the rest is what to do. */
const errors = (contract: Contract): string[][] =>
  operationsOf(contract)
    .flatMap(({ operation }) => Object.entries(operation.responses))
    .filter(([status]) => Number(status) >= 400)
    .sort(([one], [other]) => Number(one) - Number(other))
    .map(([status, response]) => {
      const { description, content } = resolve<Response>(contract, response as Response);
      const { schema, examples = {} } = content?.['application/json'] ?? {};
      const bodies = Object.values(examples).map((example) => resolve(contract, example).value);
      const codes = new Set(bodies.flatMap((body) => (body as { code?: string }).code ?? []));
      if (codes.size > 0)
        return [status, [...codes].map((code) => `\`${code}\``).join(', '), ...inTwo(description)];
      // The body of a 422 has another shape, which is described once.
      return [status, '(another shape)', ...inTwo(resolve(contract, schema)?.description ?? '')];
    });

const events = (contract: Contract): string[][] =>
  Object.entries(contract.webhooks).map(([name, item]) => {
    const { post } = item as { post: { description: string } };
    return [`\`${name}\``, inTwo(post.description)[0] ?? ''];
  });

/** The first sentence, and the others. */
export const inTwo = (text: string): string[] => {
  const [first = '', ...others] = text
    .trim()
    .replaceAll(/\s+/g, ' ')
    .split(/(?<=\.) /);
  return [first, others.join(' ')];
};
