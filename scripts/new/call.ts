// Reads the arguments of `npm run new`, and finds out what to write.
import { parseArgs } from 'node:util';
import { newEvent } from './event.ts';
import { newField } from './field.ts';
import { newAction, newOperation } from './operation.ts';
import type { Plan } from './plan.ts';
import { projectAt } from './project.ts';
import { newTable } from './table.ts';

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;
const options = {
  ...{ id: text, schema: text, tag: text, in: text, on: text },
  ...{ type: text, values: text, erasure: text },
  ...{ 'no-generate': flag, help: flag },
};

/** The call itself is not understood. */
export class WrongCall extends Error {}

const parse = (args: string[]) => parseArgs({ args, options, allowPositionals: true });
type Call = ReturnType<typeof parse>;

export function readCall(args: string[]): Call {
  try {
    return parse(args);
  } catch (error) {
    throw new WrongCall(error instanceof Error ? error.message : String(error));
  }
}

export async function planOf(root: string, { values, positionals: [kind, ...names] }: Call): Promise<Plan> {
  const project = projectAt(root);
  const [first, second] = names;
  const takes = (count: number, example: string) => {
    if (names.length !== count) throw new WrongCall(`Write: npm run new -- ${example}`);
  };
  switch (kind) {
    case 'operation':
      takes(2, 'operation GET /buyer-notes');
      return await newOperation(project, first ?? '', second ?? '', values);
    case 'action':
      takes(1, 'action cancel --on Booking');
      return await newAction(project, first ?? '', values.on);
    case 'event':
      takes(1, 'event refund-reason.created');
      return await newEvent(project, first ?? '', values);
    case 'table':
      takes(1, 'table refund_reasons --erasure display_name=kept');
      return await newTable(project, first ?? '', values);
    case 'field':
      takes(1, 'field installments --in Transaction --type integer --erasure kept');
      return await newField(project, first ?? '', values);
    case undefined:
    default:
      throw new WrongCall('Say what is new: operation, action, event, table or field.');
  }
}
