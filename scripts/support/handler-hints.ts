// What is wrong with the answer of a handler, read from what the compiler says. That lists the bodies of all statuses, and breaks
// off; and of a list it names `json`, because items may also be JSON that the database wrote.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Operation } from '../../generated/operations.ts';
import { nearest } from '../lint/did-you-mean.ts';
import { kebab } from '../new/names.ts';
import { placeOf } from './faults.ts';
import { root } from './root.ts';

/** The handlers of the contract, by file, and its events. Loaded only here: the lint of a contract must not depend on generated code. */
export async function readGenerated(): Promise<{
  handlers: Map<string, Operation>;
  events: readonly string[];
}> {
  // A contract that nothing was generated from yet has neither.
  const { events, operations } = await import('../../generated/operations.ts').catch(() => ({
    events: [],
    operations: {},
  }));
  const all = Object.values<Operation>(operations);
  return { handlers: new Map(all.map((one) => [`server/handlers/${kebab(one.id)}.ts`, one])), events };
}

/** Undefined for a fault that is not about the answer. */
export function answerHint(fault: string, { id, path, statuses }: Operation): string | undefined {
  if (!/error TS(2322|2353|2561|2739|2740|2741):/.test(fault)) return undefined;
  const [, status = ''] = /Type '(\d{3})' is not assignable to type '\d{3}\b/.exec(fault) ?? [];
  const isDeclared = status === '' || statuses.includes(Number(status));
  // Of a status that is not declared, the body means nothing.
  const faults = isDeclared ? fieldFaults(fault) : [`status ${status} is not declared`];
  const file = `openapi/paths/${path.slice(1).replaceAll('/', '_')}.yaml`;
  return `${id}: ${faults.join('; ') || 'not an answer of the contract'}. ${file} declares ${statuses.join(', ')}.`;
}

function fieldFaults(fault: string): string[] {
  const [, extra] = /'(\w+)' does not exist in type '/.exec(fault) ?? [];
  const [, wanted = ''] =
    /(?:does not exist in|required in|properties from) type '([^']*)'/.exec(fault) ?? [];
  const [, property, given] = /Property '(\w+)' is missing in type '([^']*)'/.exec(fault) ?? [];
  const [, one, listed] =
    /Type '([^']*)' is missing the following [^']*'[^']*': (.+?)\.?$/m.exec(fault) ?? [];
  const keys = keysOf(wanted);
  const shown = wanted.match(/\w+(?=\??:)/g) ?? [];
  const [, written = nearest(extra ?? '', shown)] = /Did you mean to write '(\w+)'/.exec(fault) ?? [];
  const meant = written === undefined ? '' : ` (did you mean ${written}?)`;
  if (extra !== undefined)
    return [keys.includes(extra) ? `${extra} has another type` : `the contract has no ${extra}${meant}`];
  const present = keysOf(given ?? one ?? '');
  const missing = keys.filter((key) => !present.includes(key));
  if (missing.length > 0) return [`missing: ${missing.join(', ')}`];
  const named = property === 'json' ? undefined : (property ?? listed);
  if (named !== undefined) return [`missing: ${named}`];
  const [, other = fieldAt(fault)] =
    /[^]*(?:Types of property|The types of) '(?:body\.)?([\w.]+)' are incompatible/.exec(fault) ?? [];
  const [, is, wants] = /[^]*Type '([^'{]+)' is not assignable to type '([^'{]+)'/.exec(fault) ?? [];
  if (other === undefined || is === undefined || /^(body|items|status)$/.test(other)) return [];
  return [`${other} has another type: ${is}, the contract has ${wants?.replace(' | undefined', '')}`];
}

/** The property in the code that the compiler points at, and does not name. */
function fieldAt(fault: string): string | undefined {
  const { file, line, column } = placeOf(fault);
  const path = join(root, file);
  const text = file !== '' && existsSync(path) ? readFileSync(path, 'utf8') : '';
  const rest = text.split('\n')[Number(line) - 1]?.slice(Number(column) - 1);
  return /^\w+(?= *[:,}]|$)/.exec(rest ?? '')?.[0];
}

/** The properties that a type must have, as the compiler prints it; none if it left some out. */
function keysOf(type: string): string[] {
  const inner = type.replace(/^JsonText<(.*)>$/, '$1');
  let depth = 0;
  let members = '';
  for (const letter of inner.slice(1, -1)) {
    if (/[{[(<]/.test(letter)) depth += 1;
    if (depth === 0) members += letter;
    if (/[}\])>]/.test(letter)) depth -= 1;
  }
  if (!/^\{.*\}$/.test(inner) || /(^|;) *\.\.\. /.test(members)) return [];
  return [...members.matchAll(/(?:^|;) *(\w+):/g)].map(([, key = '']) => key);
}
