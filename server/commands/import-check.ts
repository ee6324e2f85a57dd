// The first stages of an import: reads a file line by line, in batches of limited size, so that files of any size fit in memory;
// checks each line against the contract; collects the bad lines.
import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { AmbiguousJson, parseStrictJson } from '../../client/json.ts';
import { compileAt, createAjv, pointTo } from '../kit/contract/ajv.ts';
import { loadContract, resolve, valueAt, type Document, type Schema } from '../kit/contract/load.ts';
import { translate } from '../kit/contract/violations.ts';
import { codeOf, OperatorFault, reasonOf } from '../kit/faults.ts';
import { hasCardNumber, maskCardNumbers } from '../kit/rules/card-numbers.ts';
import { whyUnstorable } from '../kit/rules/values.ts';
import type { NewTransaction } from '../resources/transactions/queries.ts';

export interface Line {
  number: number;
  bytes: Buffer;
}

const limits = { lines: 1_000, bytes: 4_000_000, lineBytes: 16_000_000 };

/** Only LF ends a line: node:readline also splits at U+2028, which JSON strings may contain. Empty lines are counted and left out. */
export async function* readLines(input: AsyncIterable<unknown>): AsyncGenerator<Line[]> {
  let lines: Line[] = [];
  let bytes = 0;
  let number = 1;
  let partial: Buffer[] = [];
  let partialBytes = 0;
  const extend = (part: Buffer) => {
    partial.push(part);
    partialBytes += part.length;
    // It may never end.
    if (partialBytes > limits.lineBytes)
      throw new OperatorFault(
        `Line ${number} is longer than ${limits.lineBytes / 1_000_000} MB. Nothing was imported.`,
      );
  };
  const finishLine = () => {
    const line = { number, bytes: Buffer.concat(partial) };
    if (!line.bytes.every(isSpace)) lines.push(line);
    bytes += partialBytes;
    number += 1;
    partial = [];
    partialBytes = 0;
  };
  for await (const read of input) {
    const chunk = read as Buffer;
    let from = 0;
    for (let to = chunk.indexOf(10); to !== -1; to = chunk.indexOf(10, from)) {
      extend(chunk.subarray(from, to));
      finishLine();
      from = to + 1;
      if (lines.length < limits.lines && bytes < limits.bytes) continue;
      yield lines;
      lines = [];
      bytes = 0;
    }
    extend(chunk.subarray(from));
  }
  finishLine();
  if (lines.length > 0) yield lines;
}

const isSpace = (byte: number): boolean => byte === 32 || (byte >= 9 && byte <= 13);

/** Of a text that the contract does not bound. Every page with it has all of it. */
const longestText = 1_000;
const text = { type: 'string', maxLength: longestText };

/** Properties that a line may have in addition to those of the resource. */
const extraProperties = {
  metadata: { type: ['object', 'null'], additionalProperties: text, propertyNames: text },
  payment_source: { anyOf: [pointTo('/components/schemas/PaymentSource'), { type: 'null' }] },
  merchant_initiated: { type: ['boolean', 'null'] },
  is_subsequent_payment: { type: ['boolean', 'null'] },
  payment_service_transaction_id: { ...text, type: ['string', 'null'] },
};

/** The contract, in which every schema of a text has a bound. */
function withBoundedTexts(document: Document): Document {
  const copy = structuredClone(document);
  const bound = (node: unknown): void => {
    if (node === null || typeof node !== 'object') return;
    const { type, maxLength, enum: values } = node as Record<string, unknown>;
    if ([type].flat().includes('string') && maxLength === undefined && values === undefined)
      Object.assign(node, { maxLength: longestText });
    Object.values(node).forEach(bound);
  };
  bound(copy.components.schemas);
  return copy;
}

const longestReason = 500;

export type LineCheck = (line: Line) => NewTransaction | string;

export function createLineCheck(accounts: ReadonlySet<string>): LineCheck {
  const document = withBoundedTexts(loadContract().document);
  const ajv = createAjv(document, { verbose: true });
  const resource = compileAt(ajv, '/components/schemas/Transaction');
  const extras = ajv.compile({ type: 'object', properties: extraProperties });
  // It also removes a byte order mark.
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  return ({ bytes }) => {
    let text: string;
    try {
      text = utf8.decode(bytes);
    } catch {
      return 'is not valid UTF-8';
    }
    let value: unknown;
    try {
      value = parseStrictJson(text);
    } catch (error) {
      return error instanceof AmbiguousJson
        ? shownPointer(error.pointer, ` has a ${error.fault}`)
        : 'is not valid JSON';
    }
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return 'is not a JSON object';
    const shown = Object.fromEntries(
      Object.entries(value).filter(([name]) => !Object.hasOwn(extraProperties, name)),
    );
    let isGood = resource(shown);
    if (!isGood) {
      addNulls(document, shown, resource.errors ?? []);
      isGood = resource(shown);
    }
    const errors = [
      ...(isGood ? [] : (resource.errors ?? [])),
      ...(extras(value) ? [] : (extras.errors ?? [])),
    ];
    if (errors.length > 0) {
      return firstOf(
        translate(ajv, errors, 'body').map(({ pointer, message }) =>
          shownPointer(pointer || 'it', ` ${message}`),
        ),
      );
    }
    const row = { ...value, ...shown } as NewTransaction;
    if (!accounts.has(row.merchant_account_id))
      return `/merchant_account_id ${maskCardNumbers(row.merchant_account_id, 'whole')} does not exist`;
    return whyUnstorable(row) ?? findCardNumber(row) ?? row;
  };
}

/** A property that is missing and may be null is null: a file stays good when the contract gets another one. */
function addNulls(document: Document, line: object, errors: Parameters<typeof translate>[1]): void {
  for (const { keyword, instancePath, params, parentSchema } of errors) {
    if (keyword !== 'required') continue;
    const { missingProperty } = params as { missingProperty: string };
    const { [missingProperty]: schema } = (parentSchema?.properties ?? {}) as Record<string, Schema>;
    if (schema && mayBeNull(document, schema))
      Object.assign(valueAt(line, instancePath) as object, { [missingProperty]: null });
  }
}

function mayBeNull(document: Document, schema: Schema): boolean {
  const { type = [], anyOf = [] } = resolve<Schema & { anyOf?: Schema[] }>(document, schema);
  return [type].flat().includes('null') || anyOf.some((one) => mayBeNull(document, one));
}

/** Free text is stored as it is, where a card number must not be. Not in IDs: those of other systems may be such numbers. */
function findCardNumber({ metadata, raw_response_description }: NewTransaction): string | undefined {
  const at = (pointer: string) => `${pointer} has a card number in it, which must not be stored as text`;
  if (hasCardNumber(raw_response_description ?? '', 'whole')) return at('/raw_response_description');
  for (const [name, text] of Object.entries(metadata ?? {})) {
    if (hasCardNumber(name, 'whole')) return at('a name in /metadata');
    if (hasCardNumber(text, 'whole')) return at(`/metadata/${name}`.slice(0, longestReason));
  }
  return undefined;
}

/** Masked before it is cut: 15 digits of a number give the last one away. A pointer has `~1` for a slash. */
function shownPointer(pointer: string, fault: string): string {
  const plain = pointer.replaceAll('~1', '/');
  const shown = hasCardNumber(plain, 'whole') ? maskCardNumbers(plain, 'whole') : pointer;
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

export const mostShown = 20;
const mostReasons = 50;
const otherReasons = 'other reasons';

interface BadLine {
  line: number;
  reason: string;
}

export interface BadLines {
  total: number;
  /** How many of them have an ID that exists already: nearly all, if a longer file is imported again. */
  existing: number;
  /** The first ones, in the order of the file; those with an existing ID only if there is room after the others. */
  shown: () => BadLine[];
  reasons: () => { reason: string; lines: number }[];
  /** To be called in the order of the file. */
  note: (line: Line, reason: string, options?: { isExisting?: boolean }) => void;
  close: () => void;
}

/** There may be a million, so most are only counted. Also writes all of them to `file`. */
export function collectBadLines(file: string | undefined): BadLines {
  const handle = file === undefined ? undefined : create(file);
  const first: BadLine[] = [];
  const firstExisting: BadLine[] = [];
  const byReason = new Map<string, number>();
  return {
    total: 0,
    existing: 0,
    shown: () => [...first, ...firstExisting].slice(0, mostShown).sort((one, other) => one.line - other.line),
    reasons: () =>
      [...byReason]
        .map(([reason, lines]) => ({ reason, lines }))
        .sort((one, other) => other.lines - one.lines),
    note({ number: line, bytes }, reason, { isExisting = false } = {}) {
      this.total += 1;
      if (isExisting) this.existing += 1;
      const list = isExisting ? firstExisting : first;
      if (list.length < mostShown) list.push({ line, reason });
      const kind = withoutPlaces(reason);
      const counted = byReason.has(kind) || byReason.size < mostReasons ? kind : otherReasons;
      byReason.set(counted, (byReason.get(counted) ?? 0) + 1);
      if (handle === undefined) return;
      const text = isUtf8(bytes) ? maskLine(bytes.toString().trim()) : null;
      try {
        writeFileSync(handle, `${JSON.stringify({ line, reason, text })}\n`);
      } catch (error) {
        throw new OperatorFault(`${file} could not be written: ${reasonOf(error)}. Nothing was imported.`);
      }
    },
    close() {
      if (handle !== undefined) closeSync(handle);
    },
  };
}

/** The same for every line with this fault: IDs and the positions in arrays differ. */
const withoutPlaces = (reason: string): string =>
  reason.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, '…').replace(/(?<=\/)\d+(?=[/ ])/g, '…');

const secret = /("(?:security_code|pin)"\s*:\s*)(?:"(?:\\.|[^"\\])*"|[^\s,}]+)/gi;

/** A number may also be written with escapes of JSON. */
function maskLine(text: string): string {
  const masked = maskCardNumbers(text.replace(secret, '$1"[redacted]"'), 'whole');
  const plain = masked
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
    .replaceAll('\\/', '/')
    .replace(/\\[bfnrt]/g, ' ');
  return hasCardNumber(plain, 'whole') ? maskCardNumbers(plain, 'whole') : masked;
}

/** Never overwrites: a mistake in the arguments must not cost the file that is imported. */
function create(file: string): number {
  try {
    return openSync(file, 'wx', 0o600);
  } catch (error) {
    const isThere = codeOf(error) === 'EEXIST';
    throw new OperatorFault(
      `${file} ${isThere ? 'exists already' : 'cannot be created'}. Name another file; nothing was imported.`,
    );
  }
}
