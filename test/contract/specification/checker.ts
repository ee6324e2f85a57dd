/** Holds a schema of the contract against a rule of the tables and names every difference. */
import { isDeepStrictEqual } from 'node:util';
import type { Contract, Place, View } from './document.ts';
import { anything, type Rule } from './notation.ts';

export type Aspect = 'fields' | 'presence' | 'null' | 'types' | 'values' | 'limits' | 'closed';

export interface Fault {
  aspect: Aspect;
  pointer: string;
  expected: unknown;
  found: unknown;
  /** What the contract has and the specification does not: fine once CHANGELOG.md names it (additions.ts). */
  beyond?: string;
}

/** `inside`: go into nested objects too; otherwise only this object, its fields and their array items. */
export function faultsOf(contract: Contract, rule: Rule, place: Place, inside: boolean): Fault[] {
  if (place.value === undefined) return [fault('fields', place, 'to be there', 'nothing')];
  const view = contract.view(place);
  return [...ownFaults(rule, view), ...objectFaults(contract, rule, view, inside)];
}

function fault(aspect: Aspect, at: { pointer: string }, expected: unknown, found: unknown): Fault {
  return { aspect, pointer: at.pointer, expected, found };
}

/** One fault for each: an addition is announced by its name. */
export const additions = (aspect: Aspect, at: { pointer: string }, names: readonly string[]): Fault[] =>
  names.map((name) => ({ ...fault(aspect, at, 'nothing beyond the specification', name), beyond: name }));

function ownFaults(rule: Rule, view: View): Fault[] {
  const faults: Fault[] = [];
  const differ = (aspect: Aspect, expected: unknown, found: unknown): void => {
    if (!isDeepStrictEqual(expected, found)) faults.push(fault(aspect, view, expected, found));
  };
  if (rule.type !== 'one of') differ('types', typesOf(rule), view.types);
  differ('null', `nullable: ${String(rule.nullable)}`, `nullable: ${String(view.nullable)}`);
  faults.push(...valueFaults(rule, view), ...keywordFaults(rule, view), ...sampleFaults(rule, view));
  if (rule.type === 'one of') differ('types', rule.branches?.length, view.branches.length);
  else differ('types', 'no alternatives', view.branches.length > 0 ? 'alternatives' : 'no alternatives');
  return faults;
}

function typesOf(rule: Rule): string[] {
  if (rule.type === 'any') return [];
  return rule.type === 'string or integer' ? ['integer', 'string'] : [rule.type];
}

function valueFaults(rule: Rule, view: View): Fault[] {
  const sorted = (values: readonly unknown[] | undefined): unknown[] | undefined =>
    values && [...values].sort();
  if (rule.values.some((values) => isDeepStrictEqual(sorted(values), sorted(view.values)))) return [];
  const [wanted] = rule.values;
  const found = view.values;
  if (!wanted || !found) return [fault('values', view, wanted ?? 'any value', found ?? 'any value')];
  const missing = wanted.filter((value) => !found.includes(value));
  const extra = found.filter((value) => !(wanted as readonly unknown[]).includes(value));
  const isLonger = missing.length === 0 && new Set(found).size === found.length;
  if (rule.extensible && isLonger) return additions('values', view, extra.map(String));
  return [
    fault('values', view, `all of ${String(wanted.length)}, each once`, {
      missing,
      extra,
      values: found.length,
    }),
  ];
}

function keywordFaults(rule: Rule, view: View): Fault[] {
  const names = new Set([...Object.keys(rule.keywords), ...Object.keys(view.keywords)]);
  return [...names].flatMap((name) => {
    const expected = rule.keywords[name];
    const found = view.keywords[name];
    if (isDeepStrictEqual(expected, found)) return [];
    const tolerated = expected === undefined && name in rule.may;
    if (tolerated && (rule.may[name] === anything || isDeepStrictEqual(rule.may[name], found))) return [];
    if (rule.open && name === 'additionalProperties') return [];
    const aspect: Aspect = name === 'format' ? 'types' : name.endsWith('Properties') ? 'closed' : 'limits';
    return [fault(aspect, view, { [name]: expected ?? 'none' }, { [name]: found ?? 'none' })];
  });
}

function sampleFaults(rule: Rule, view: View): Fault[] {
  const wrong = (samples: readonly string[], passes: boolean): string[] =>
    samples
      .filter((sample) => fits(sample, view) !== passes)
      .map((sample) => JSON.stringify(sample).slice(0, 60));
  const refused = wrong(rule.accepts, true);
  const accepted = wrong(rule.refuses, false);
  return [
    ...(refused.length > 0 ? [fault('limits', view, { accepts: refused }, view.keywords)] : []),
    ...(accepted.length > 0 ? [fault('limits', view, { refuses: accepted }, view.keywords)] : []),
  ];
}

/** Does a string keep the limits of this schema? Length is counted in characters, patterns run as Unicode. */
function fits(text: string, view: View): boolean {
  const { minLength = 0, maxLength = Infinity, pattern = '' } = view.keywords;
  const length = Array.from(text).length;
  if (length < Number(minLength) || length > Number(maxLength)) return false;
  return new RegExp(String(pattern), 'u').test(text);
}

function objectFaults(contract: Contract, rule: Rule, view: View, inside: boolean): Fault[] {
  if (rule.items) {
    if (!view.items) return [fault('types', view, 'items', 'none')];
    return nestedFaults(contract, rule.items, view.items, inside);
  }
  if (view.items) return [fault('types', view, 'no items', 'items')];
  if (rule.branches) return branchFaults(contract, rule.branches, view);
  if (!rule.fields) {
    return view.properties.size > 0 ? [fault('fields', view, [], [...view.properties.keys()])] : [];
  }
  const fields = Object.entries(rule.fields);
  const faults: Fault[] = [];
  const names = fields.map(([name]) => name);
  const missing = names.filter((name) => !view.properties.has(name));
  const extra = [...view.properties.keys()].filter((name) => !names.includes(name));
  if (missing.length > 0) faults.push(fault('fields', view, { missing }, { extra }));
  faults.push(...additions('fields', view, extra));
  const always = fields.filter(([, field]) => !field.optional).map(([name]) => name);
  const lacking = always.filter((name) => !view.required.includes(name));
  const beyond = view.required.filter((name) => names.includes(name) && !always.includes(name));
  if (lacking.length + beyond.length > 0) {
    faults.push(fault('presence', view, { required: lacking }, { 'required beyond': beyond }));
  }
  if (view.closed === rule.open)
    faults.push(fault('closed', view, rule.open ? 'open' : 'closed', 'the opposite'));
  for (const [name, field] of fields) {
    const property = view.properties.get(name);
    if (property) faults.push(...nestedFaults(contract, field, property, inside));
  }
  return faults;
}

/** Of a nested object only its own type and nullability are judged, unless asked to go inside. */
function nestedFaults(contract: Contract, rule: Rule, place: Place, inside: boolean): Fault[] {
  const stop = !inside && rule.fields !== undefined && !rule.open;
  return stop ? ownFaults(rule, contract.view(place)) : faultsOf(contract, rule, place, inside);
}

/** Each expected branch is held against the branch that comes nearest to it. */
function branchFaults(contract: Contract, rules: readonly Rule[], view: View): Fault[] {
  const left = [...view.branches];
  return rules.flatMap((rule) => {
    const judged = left.map((branch) => ({ branch, faults: faultsOf(contract, rule, branch, true) }));
    const [nearest] = judged.sort((one, other) => one.faults.length - other.faults.length);
    if (!nearest) return [fault('types', view, 'one more alternative', 'none')];
    left.splice(left.indexOf(nearest.branch), 1);
    return nearest.faults;
  });
}
