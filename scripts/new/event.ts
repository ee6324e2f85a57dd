// `npm run new -- event voucher.created`: the webhook, its map entry, schema and example, which shows a record of another example.
import { randomUUID } from 'node:crypto';
import { parse } from 'yaml';
import { append, indent, insertBefore, inTurn, newTag } from './contract-text.ts';
import { exampleOf } from './examples.ts';
import { mustMatch, pascal, plural, sentence, spoken, withArticle } from './names.ts';
import { Refusal, type Plan } from './plan.ts';
import { component, tagsOf, type Project } from './project.ts';
import { filled } from './template.ts';

export async function newEvent(
  project: Project,
  name: string,
  options: { tag?: string | undefined },
): Promise<Plan> {
  mustMatch(
    /^[a-z][a-z0-9]*(-[a-z0-9]+)*\.[a-z]+(-[a-z]+)*$/,
    name,
    'An event is named after its resource and what happened: event refund-reason.created',
  );
  const file = `openapi/webhooks/${name}.yaml`;
  if (await project.has(file)) throw new Refusal(`The event ${name} exists already: ${file}`);
  const [type = '', happened = ''] = name.split('.');
  const resource = pascal(type);
  const found = (await project.has(component('schemas', resource))) && (await exampleOf(project, resource));
  if (!found)
    throw new Refusal(
      `No example shows a ${resource}. Write an operation first: npm run new -- operation POST /${plural(type)}`,
    );
  const { created_at, updated_at, merchant_account_id } = parse(found.record) as Record<string, string>;
  const event = pascal(name);
  const one = spoken(type);
  const tag = options.tag ?? sentence(plural(one));
  const values = {
    ...{ name, one, tag, Event: event, Resource: resource, happened: spoken(happened) },
    ...{ any: withArticle(one), Any: sentence(withArticle(one)), example: happened.replaceAll('-', '_') },
  };
  const entry = `  ${name}:\n    $ref: ./webhooks/${name}.yaml\n`;
  // Another API begins without events.
  const toMap = (text: string) =>
    (/^webhooks:/m.test(text)
      ? append(['webhooks'], entry)
      : insertBefore(['components'], `webhooks:\n${entry}`))(text);
  const hasTag = (await tagsOf(project)).includes(tag);
  return {
    write: {
      [file]: filled('webhook.yaml', values),
      [component('schemas', `${event}Event`)]: filled('event.yaml', values),
      [component('examples', `Event${event}`)]: `summary: ${values.Any} was ${values.happened}
value:
  type: event
  id: ${randomUUID()}
  name: ${name}
  created_at: '${updated_at ?? created_at ?? '2026-11-14T02:00:00.000Z'}'
  merchant_account_id: ${merchant_account_id ?? 'default'}
  target:
${indent(found.record, 4)}`,
    },
    edit: {
      'openapi/openapi.yaml': inTurn(...(hasTag ? [] : [newTag(tag, plural(one))]), toMap),
    },
    next: [
      `Describe it: ${file}`,
      `Publish it in the change that causes it: docs/guides/backend-engineer.md, "An event"; \`npm run new -- table\` does that in a new table`,
      `Announce it: info.version, and \`${name}\` below "### Contract" in CHANGELOG.md`,
    ],
  };
}
