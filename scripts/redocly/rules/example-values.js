// What is inside the values of examples. The mock serves them side by side, so one record must look the same in all of them.
import { relative } from 'node:path';
import { entries, isObject, isText } from '../support.js';

/** Of objects and lists: what is in them, with the way there. */
const partsOf = (value) => (Array.isArray(value) ? [...value.entries()] : entries(value));

function* objectsIn(value, path = []) {
  if (isObject(value)) yield { object: value, path };
  for (const [key, part] of partsOf(value)) yield* objectsIn(part, [...path, key]);
}

export const plainExamples = () => ({
  Example(example, ctx) {
    for (const { object, path } of objectsIn(example?.value)) {
      if (!('$ref' in object)) continue;
      ctx.report({
        message: 'OpenAPI has no $ref in the value of an example: write out what it refers to.',
        location: ctx.location.child(['value', ...path, '$ref']).key(),
      });
    }
  },
});

const isRecord = (value) => isObject(value) && isText(value.type) && isText(value.id);

/** As a text to compare. Records and objects are compared field by field. */
function asText(value) {
  if (isRecord(value)) return `the ${value.type} ${value.id}`;
  if (Array.isArray(value)) return `[${value.map(asText).join(', ')}]`;
  return isObject(value) ? 'an object' : JSON.stringify(value);
}

/** The fields of a record and of the objects in it, but not those of other records in it. */
function* fieldsOf(holder, path = []) {
  for (const [key, value] of partsOf(holder)) {
    const way = [...path, key];
    yield { way, text: asText(value) };
    if (!isRecord(value)) yield* fieldsOf(value, way);
  }
}

/** The one that this contradicts. One without a time must look as at some time. */
function contradicted(one, all) {
  const dated = all.filter(({ time }) => time !== undefined);
  const isUndated = one.time === undefined && dated.length > 0;
  const peers = isUndated ? dated : all.filter(({ time }) => time === one.time);
  // What most say is right.
  const count = (peer) => all.filter(({ text }) => text === peer.text).length;
  const usual = peers.reduce((best, peer) => (count(peer) > count(best) ? peer : best));
  const agrees = isUndated ? peers.some(({ text }) => text === one.text) : usual.text === one.text;
  return agrees ? undefined : usual;
}

export const consistentExamples = () => {
  /** By location, because several responses may refer to one example. */
  const examples = new Map();
  const collect = (isEvent) => (example, ctx) => {
    const location = ctx.location.child('value');
    const known = examples.get(location.absolutePointer);
    examples.set(location.absolutePointer, {
      value: example?.value,
      location,
      isEvent: isEvent || known?.isEvent,
    });
  };
  return {
    Example: collect(false),
    WebhooksMap: { Example: collect(true) },
    Root: {
      leave(_root, ctx) {
        const home = ctx.location.source.absoluteRef.replace(/openapi[/\\][^/\\]+$/, '');
        for (const [name, all] of shownFields(examples.values())) {
          for (const one of all) {
            const other = contradicted(one, all);
            if (!other) continue;
            const file = relative(home, other.location.source.absoluteRef).replaceAll('\\', '/');
            const place = other.location.pointer.replace('#/value', '');
            ctx.report({
              message: `${name} is ${one.text} here, and ${other.text} in ${file}, at ${place}. Write the same, or another \`id\`; or another \`updated_at\`, if one of them shows it at another time.`,
              location: one.location.key(),
            });
          }
        }
      },
    },
  };
};

/** What the examples say about each field of each record. */
function shownFields(examples) {
  const shown = new Map();
  for (const { value, location, isEvent } of examples) {
    for (const { object, path } of objectsIn(value)) {
      if (!isRecord(object)) continue;
      const { updated_at: time } = object;
      // What an event is about: it may show an earlier state.
      if (isEvent && path.length <= 1 && time === undefined) continue;
      for (const { way, text } of fieldsOf(object)) {
        const name = `\`${way.join('.')}\` of the ${object.type} ${object.id}`;
        const all = shown.get(name) ?? [];
        shown.set(name, all);
        all.push({ text, time, location: location.child([...path, ...way]) });
      }
    }
  }
  return shown;
}
