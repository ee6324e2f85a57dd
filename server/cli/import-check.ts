// Checks one line of an import against the contract.
import { AmbiguousJson, parseStrictJson } from '../../client/json.ts';
import { compileAt, createAjv, pointTo } from '../contract/ajv.ts';
import { loadContract } from '../contract/load.ts';
import { createTranslator } from '../contract/violations.ts';
import { maskCardNumbers, mentionsCardNumber } from '../resources/payment-methods/rules.ts';
import { whyUnstorable } from '../rules/storable.ts';
import type { NewTransaction } from '../resources/transactions/queries.ts';
import type { Line } from './import-lines.ts';

/** Properties that a line may have in addition to those of the resource. */
const extraProperties = {
  metadata: { type: ['object', 'null'], additionalProperties: { type: 'string' } },
  payment_source: { anyOf: [pointTo('/components/schemas/PaymentSource'), { type: 'null' }] },
  merchant_initiated: { type: ['boolean', 'null'] },
  is_subsequent_payment: { type: ['boolean', 'null'] },
  payment_service_transaction_id: { type: ['string', 'null'] },
};

const longestReason = 500;

/** Returns the transaction, or what is wrong with the line. */
export type LineCheck = (line: Line) => NewTransaction | string;

export function createLineCheck(accounts: ReadonlySet<string>): LineCheck {
  const { document } = loadContract();
  const ajv = createAjv(document, { verbose: true });
  const translate = createTranslator(ajv);
  const resource = compileAt(ajv, '/components/schemas/Transaction');
  const extras = ajv.compile({ type: 'object', properties: extraProperties });
  return (line) => {
    if ('fault' in line) return line.fault;
    let value: unknown;
    try {
      value = parseStrictJson(line.text);
    } catch (error) {
      return error instanceof AmbiguousJson
        ? shownPointer(error.pointer, ` has a ${error.fault}`)
        : 'is not valid JSON';
    }
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return 'is not a JSON object';
    const shown = Object.fromEntries(
      Object.entries(value).filter(([name]) => !Object.hasOwn(extraProperties, name)),
    );
    const errors = [
      ...(resource(shown) ? [] : (resource.errors ?? [])),
      ...(extras(value) ? [] : (extras.errors ?? [])),
    ];
    if (errors.length > 0) {
      return firstOf(
        translate(errors, 'body').map(({ pointer, message }) => shownPointer(pointer || 'it', ` ${message}`)),
      );
    }
    const given = value as NewTransaction;
    if (!accounts.has(given.merchant_account_id))
      return `/merchant_account_id ${maskCardNumbers(given.merchant_account_id)} does not exist`;
    return whyUnstorable(given) ?? findCardNumber(given) ?? given;
  };
}

/** Free text is stored as it is, where a card number must not be. Not in IDs: those of other systems may be such numbers. */
function findCardNumber({ metadata, raw_response_description }: NewTransaction): string | undefined {
  const at = (pointer: string) => `${pointer} has a card number in it, which must not be stored as text`;
  if (mentionsCardNumber(raw_response_description ?? '')) return at('/raw_response_description');
  for (const [name, text] of Object.entries(metadata ?? {})) {
    if (mentionsCardNumber(name)) return at('a name in /metadata');
    if (mentionsCardNumber(text)) return at(`/metadata/${name}`.slice(0, longestReason));
  }
  return undefined;
}

/** Masked before it is cut: 15 digits of a number give the last one away. A pointer has `~1` for a slash. */
function shownPointer(pointer: string, fault: string): string {
  const plain = pointer.replaceAll('~1', '/');
  const shown = mentionsCardNumber(plain) ? maskCardNumbers(plain) : pointer;
  return (shown + fault).slice(0, longestReason);
}

/** As many faults as a line of a report has room for, and how many are left out. */
function firstOf(faults: readonly string[]): string {
  let shown = faults[0]?.slice(0, longestReason) ?? '';
  for (const [index, fault] of faults.entries()) {
    if (index === 0) continue;
    if (shown.length + fault.length > longestReason) return `${shown}; … and ${faults.length - index} more`;
    shown += `; ${fault}`;
  }
  return shown;
}
