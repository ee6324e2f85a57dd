/** Whole request bodies, judged by a validator: what no single field can say, as "never both". */
import formats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Fault } from './checker.ts';
import type { Contract, Place } from './document.ts';
import type { Operation } from './operations.ts';

export function bodyFaults(contract: Contract, operation: Operation, schema: Place): Fault[] {
  const { accepts = [], refuses = [] } = operation.bodies ?? {};
  const ajv = new Ajv2020({ strict: false, validateSchema: false });
  formats.default(ajv);
  const { components, paths } = contract.document;
  const fits = ajv.compile({ $ref: `#${schema.pointer}`, components, paths });
  const fault = (expected: string, body: unknown): Fault => {
    return { aspect: 'limits', pointer: schema.pointer, expected, found: body };
  };
  return [
    ...accepts.filter((body) => !fits(body)).map((body) => fault('this body is accepted', body)),
    ...refuses.filter((body) => fits(body)).map((body) => fault('this body is refused', body)),
  ];
}
