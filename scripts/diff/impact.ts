// Does a change break consumers? Redocly's rules (diff-recommended, see redocly.yaml) distinguish requests from responses
// and decide most cases. The table below adds what they do not cover; a change that no rule covers counts as breaking.
import { gained, isObject, lost, segments, valueOf, type Change } from './change.ts';

export type Rating = 'breaking' | 'addition' | 'other';

export interface Impact {
  rating: Rating;
  /** Only if it is not obvious from the change itself. */
  why?: string;
}

interface Rule extends Impact {
  when: (change: Change) => boolean;
}

const setOf = (words: string) => new Set(words.trim().split(/\s+/));

const docTypes = setOf('Example ExamplesMap Tag TagList ExternalDocs Info Contact License');
const docKeywords = setOf('description summary title example examples externalDocs tags $comment');

// Redocly rates these for requests and responses. Without a verdict, the change only accepts more input or sends less output.
const ratedKeywords = setOf(`
  type nullable enum required const format pattern multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minLength
  maxLength minItems maxItems uniqueItems minProperties maxProperties additionalProperties unevaluatedProperties items
  unevaluatedItems contentEncoding contentMediaType not then else contains propertyNames prefixItems dependentSchemas
  dependentRequired allOf anyOf oneOf`);
const ratedTypes = setOf('AllOf AnyOf OneOf SchemaList SchemaMap DependentRequired SecurityRequirement');

const changed = (change: Change, property: string) =>
  change.kind === 'modified' && change.property === property;
const isRated = (change: Change, impact: string) =>
  change.verdicts.some((verdict) => verdict.impact === impact);
const value = (side: Change['base']) => side?.value;
const rises = ({ base, revision }: Change) => Number(value(revision)) > Number(value(base));
const falls = ({ base, revision }: Change) => Number(value(revision)) < Number(value(base));
const within = (change: Change, name: string) => segments(change.path).includes(name);
const inWebhook = (change: Change) => segments(change.path)[0] === 'webhooks';

/** The last segment of the path, unless it is a field name: a field may be called `items`. */
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

// Consumers do not see component names. The content is compared in every place that uses the component.
const isComponent = ({ path, kind, property }: Change) =>
  path.startsWith('#/components/') &&
  segments(path).length <= 3 &&
  (kind !== 'modified' || property === 'key');

const isInsideNot = (change: Change) =>
  within(change, 'not') && (change.kind === 'modified' || keyword(change) !== 'not');

const refusesFewer = (change: Change) =>
  changed(change, 'required') &&
  keyword(change) === 'not' &&
  !within(change, 'if') &&
  lost(change).length === 0;

const losesEnumValues = (change: Change) =>
  changed(change, 'enum') &&
  lost(change).length > 0 &&
  (change.revision?.value !== undefined || isRated(change, 'minor'));

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

function isRatedByRedocly(change: Change): boolean {
  const { kind, typeName, property = '' } = change;
  if (ratedTypes.has(typeName)) return true;
  if (kind === 'removed')
    return typeName === 'Schema' && (ratedKeywords.has(keyword(change)) || /^\d+$/.test(keyword(change)));
  return typeName === 'Schema' ? ratedKeywords.has(property) : property === 'required';
}

const isLimit = (change: Change) => keyword(change) === 'x-rate-limit' || within(change, 'x-velocity-limit');

// Nobody depends on the URL of a local server.
const isLocalServer = (change: Change) =>
  change.typeName === 'Server' && /\/\/(127\.0\.0\.1|localhost)\b/.test(JSON.stringify(valueOf(change)));

// The first rule that matches decides.
const rules: Rule[] = [
  { when: isDocs, rating: 'other' },
  { when: isReordered, rating: 'other' },
  { when: isLocalServer, rating: 'other' },
  { when: (change) => keyword(change) === 'x-reserved', rating: 'other' },

  // `not: { required: [a, b] }` refuses those who send both. With a third name it refuses fewer.
  { when: refusesFewer, rating: 'addition' },
  { when: (change) => isRated(change, 'major'), rating: 'breaking' },

  { when: losesEnumValues, rating: 'breaking', why: 'consumers may rely on it' },
  { when: isNoLongerSent, rating: 'breaking', why: 'consumers may rely on receiving it' },
  { when: addsBody, rating: 'breaking', why: 'requests without a body are refused' },
  { when: isInsideNot, rating: 'breaking', why: 'inside `not`, accepting more means refusing more' },
  { when: (change) => within(change, 'if'), rating: 'breaking', why: 'it decides which rules apply' },
  {
    when: (change) => changed(change, 'key') && !isComponent(change),
    rating: 'breaking',
    why: 'the old name no longer works',
  },
  {
    when: (change) => changed(change, 'default'),
    rating: 'breaking',
    why: 'requests that leave it out change their meaning',
  },
  {
    when: (change) => change.kind === 'added' && /^(schema|if|patternProperties)$/.test(keyword(change)),
    rating: 'breaking',
    why: 'it restricts values that were allowed',
  },
  {
    when: (change) => change.kind === 'added' && change.typeName === 'ServerList' && within(change, 'paths'),
    rating: 'breaking',
    why: 'it moves to another URL',
  },

  // Bounds abuse at a rate that no honest caller reaches, so introducing it is an addition (docs/open-points.md).
  {
    when: (change) => change.kind === 'added' && keyword(change) === 'x-velocity-limit',
    rating: 'addition',
  },
  {
    when: (change) =>
      isLimit(change) &&
      (change.kind === 'removed' ||
        (changed(change, 'limit') && rises(change)) ||
        (changed(change, 'window_seconds') && falls(change))),
    rating: 'addition',
  },
  {
    when: isLimit,
    rating: 'breaking',
    why: 'callers reach the limit sooner',
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
    why: 'it changes which merchant accounts can be named',
  },

  { when: isComponent, rating: 'other' },
  { when: (change) => change.kind === 'added' || isRated(change, 'minor'), rating: 'addition' },
  // Semantic Versioning, item 7: a deprecation is announced with a minor version.
  { when: (change) => changed(change, 'deprecated'), rating: 'addition' },
  { when: isRatedByRedocly, rating: 'addition' },
];

export function rate(change: Change): Impact {
  const rule = rules.find(({ when }) => when(change));
  if (!rule) return { rating: 'breaking', why: 'no rule covers this change, so it counts as breaking' };
  return rule.why === undefined ? { rating: rule.rating } : { rating: rule.rating, why: rule.why };
}
