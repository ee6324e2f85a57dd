// Does a change break a consumer? Redocly's rules (diff-recommended, see redocly.yaml) know the direction of the data and
// judge most of it. The table below adds what they do not look at; what nobody knows counts as breaking.
import { gained, isObject, lost, segments, valueOf, type Change } from './change.ts';

export type Rating = 'breaking' | 'addition' | 'other';

export interface Impact {
  rating: Rating;
  /** Said only where the change itself does not show it. */
  why?: string;
}

interface Rule extends Impact {
  when: (change: Change) => boolean;
}

const words = (text: string) => new Set(text.trim().split(/\s+/));

const docTypes = words('Example ExamplesMap Tag TagList ExternalDocs Info Contact License');
const docKeywords = words('description summary title example examples externalDocs tags $comment');

// Redocly weighs each of these in both directions. No verdict means that the change only lets more in, or less out.
const weighedKeywords = words(`
  type nullable enum required const format pattern multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minLength
  maxLength minItems maxItems uniqueItems minProperties maxProperties additionalProperties unevaluatedProperties items
  unevaluatedItems contentEncoding contentMediaType not then else contains propertyNames prefixItems dependentSchemas
  dependentRequired allOf anyOf oneOf`);
const weighedTypes = words('AllOf AnyOf OneOf SchemaList SchemaMap DependentRequired SecurityRequirement');

const changed = (change: Change, property: string) =>
  change.kind === 'modified' && change.property === property;
const judged = (change: Change, impact: string) =>
  change.verdicts.some((verdict) => verdict.impact === impact);
const value = (side: Change['base']) => side?.value;
const rises = ({ base, revision }: Change) => Number(value(revision)) > Number(value(base));
const falls = ({ base, revision }: Change) => Number(value(revision)) < Number(value(base));
const within = (change: Change, name: string) => segments(change.path).includes(name);
const inWebhook = (change: Change) => segments(change.path)[0] === 'webhooks';

/** The last step of the path, unless it is a name that somebody chose: a field may be called `items`. */
function keyword(change: Change): string {
  const [parent, name] = segments(change.path).slice(-2);
  return parent === 'properties' || name === undefined ? '' : name;
}

const isDocs = ({ typeName, kind, property = '' }: Change) =>
  docTypes.has(typeName) ||
  (kind === 'modified' && docKeywords.has(property) && !/^(SpecExtension|SchemaProperties)$/.test(typeName));

const isReordered = (change: Change) =>
  Array.isArray(value(change.base)) &&
  Array.isArray(value(change.revision)) &&
  lost(change).length + gained(change).length === 0;

// Its name is ours. What it says is compared again wherever it is used.
const isComponent = ({ path, kind, property }: Change) =>
  path.startsWith('#/components/') &&
  segments(path).length <= 3 &&
  (kind !== 'modified' || property === 'key');

const isInsideNot = (change: Change) =>
  within(change, 'not') && (change.kind === 'modified' || keyword(change) !== 'not');

const losesEnumValues = (change: Change) =>
  changed(change, 'enum') &&
  lost(change).length > 0 &&
  (change.revision?.value !== undefined || judged(change, 'minor'));

const isNoLongerSent = (change: Change) =>
  (change.typeName === 'Header' ||
    (inWebhook(change) && /^(Parameter|RequestBody)$/.test(change.typeName))) &&
  (change.kind === 'removed' || (changed(change, 'required') && value(change.revision) !== true));

function addsBody(change: Change): boolean {
  const body = valueOf(change);
  return (
    change.kind === 'added' && change.typeName === 'RequestBody' && isObject(body) && body.required === true
  );
}

function isWeighed(change: Change): boolean {
  const { kind, typeName, property = '' } = change;
  if (weighedTypes.has(typeName)) return true;
  if (kind === 'removed')
    return typeName === 'Schema' && (weighedKeywords.has(keyword(change)) || /^\d+$/.test(keyword(change)));
  return typeName === 'Schema' ? weighedKeywords.has(property) : property === 'required';
}

// Nobody depends on the addresses of a developer's own machine.
const isLocalServer = (change: Change) =>
  change.typeName === 'Server' && /\/\/(127\.0\.0\.1|localhost)\b/.test(JSON.stringify(valueOf(change)));

// The first that fits decides.
const rules: Rule[] = [
  { when: isDocs, rating: 'other' },
  { when: isReordered, rating: 'other' },
  { when: isLocalServer, rating: 'other' },
  { when: (change) => keyword(change) === 'x-reserved', rating: 'other' },

  { when: (change) => judged(change, 'major'), rating: 'breaking' },

  { when: losesEnumValues, rating: 'breaking', why: 'consumers may rely on it' },
  { when: isNoLongerSent, rating: 'breaking', why: 'consumers count on receiving it' },
  { when: addsBody, rating: 'breaking', why: 'requests without a body are refused' },
  { when: isInsideNot, rating: 'breaking', why: 'inside `not`, what looks wider refuses more' },
  { when: (change) => within(change, 'if'), rating: 'breaking', why: 'it decides which rules apply' },
  {
    when: (change) => changed(change, 'key') && !isComponent(change),
    rating: 'breaking',
    why: 'nothing answers to the old name',
  },
  {
    when: (change) => changed(change, 'default'),
    rating: 'breaking',
    why: 'leaving it out means something else',
  },
  {
    when: (change) => change.kind === 'added' && /^(schema|if|patternProperties)$/.test(keyword(change)),
    rating: 'breaking',
    why: 'what was free is bound',
  },
  {
    when: (change) => change.kind === 'added' && change.typeName === 'ServerList' && within(change, 'paths'),
    rating: 'breaking',
    why: 'it moves to another address',
  },

  {
    when: (change) =>
      keyword(change) === 'x-rate-limit' &&
      (change.kind === 'removed' ||
        (changed(change, 'limit') && rises(change)) ||
        (changed(change, 'window_seconds') && falls(change))),
    rating: 'addition',
  },
  {
    when: (change) => keyword(change) === 'x-rate-limit',
    rating: 'breaking',
    why: 'callers are refused sooner',
  },
  {
    when: (change) =>
      changed(change, 'x-merchant-scope') &&
      value(change.base) === 'one' &&
      value(change.revision) === 'many',
    rating: 'addition',
  },
  {
    when: (change) => changed(change, 'x-merchant-scope'),
    rating: 'breaking',
    why: 'other merchant accounts can be named than before',
  },

  { when: isComponent, rating: 'other' },
  { when: (change) => change.kind === 'added' || judged(change, 'minor'), rating: 'addition' },
  // Semantic Versioning, item 7: a deprecation is announced with a minor version.
  { when: (change) => changed(change, 'deprecated'), rating: 'addition' },
  { when: isWeighed, rating: 'addition' },
];

export function rate(change: Change): Impact {
  const rule = rules.find(({ when }) => when(change));
  if (!rule) return { rating: 'breaking', why: 'no rule knows this change, so it counts as breaking' };
  return rule.why === undefined ? { rating: rule.rating } : { rating: rule.rating, why: rule.why };
}
