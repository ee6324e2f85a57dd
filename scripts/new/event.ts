// `npm run new -- event transaction.captured`: the webhook, its map entry, its payload and an example of it.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { append, indent, inTurn, todo } from './contract-text.ts';
import { mustMatch, pascal, plural, sentence, snake, spoken, withArticle } from './names.ts';
import { Refusal, type Plan } from './plan.ts';
import { component, exampleOf, tagsOf, type Project } from './project.ts';
import { filled } from './template.ts';

/** What to do where no function takes announcements yet. */
async function storeStep(project: Project, event: string): Promise<string[]> {
  const [type = '', happened = ''] = event.split('.');
  const file = `server/resources/${plural(type)}/queries.ts`;
  const text = await readFile(join(project.root, file), 'utf8').catch(() => undefined);
  if (text?.includes('EventTx')) return [];
  if (text === undefined)
    return happened === 'created'
      ? [
          `If it is stored, write its table, whose insert${pascal(type)} takes the event: npm run new -- table ${snake(plural(type))}`,
        ]
      : [];
  const verb = { created: 'insert', deleted: 'delete' }[happened] ?? 'update';
  return [
    `Let ${verb}${pascal(type)} of ${file} take an EventTx: docs/guides/backend-engineer.md, "An event"`,
  ];
}

export async function newEvent(project: Project, event: string): Promise<Plan> {
  mustMatch(
    /^[a-z]+(-[a-z]+)*\.[a-z]+(-[a-z]+)*$/,
    event,
    'An event is the type of a resource, a dot and what happened: event transaction.captured',
  );
  const [type = '', happened = ''] = event.split('.');
  const resource = pascal(type);
  const example = await exampleOf(project, resource).catch(() => undefined);
  if (!(await project.has(component('schemas', resource))) || example === undefined)
    throw new Refusal(
      `An event shows a resource, and there is no ${component('schemas', resource)} with an example of it. Write first: operation GET /${plural(type)}/{${type.replaceAll('-', '_')}_id}`,
    );
  const name = pascal(event.replace('.', '-'));
  const says = `${withArticle(spoken(resource))} was ${spoken(happened)}`;
  const tag = sentence(plural(spoken(resource)));
  const hasTag = (await tagsOf(project)).includes(tag);
  const values = {
    ...{ event, example, tag, says, Name: name, Resource: resource, Says: sentence(says) },
    id: randomUUID(),
    happened: happened.replaceAll('-', '_'),
    spoken: spoken(resource),
  };
  return {
    write: {
      [`openapi/webhooks/${event}.yaml`]: filled('webhook.yaml', values),
      [component('schemas', `${name}Event`)]: filled('event-schema.yaml', values),
      [component('examples', `Event${name}`)]: filled('event-example.yaml', values),
    },
    edit: {
      'openapi/openapi.yaml': inTurn(
        append(['webhooks'], `  ${event}:\n    $ref: ./webhooks/${event}.yaml\n`),
        ...(hasTag
          ? []
          : [
              append(
                ['tags'],
                indent(`- name: ${tag}\n  description: ${tag}.${todo('say what they are for')}\n`, 2),
              ),
            ]),
      ),
    },
    next: [
      `Describe when it is sent: openapi/webhooks/${event}.yaml`,
      ...(await storeStep(project, event)),
      `Publish it in the change that causes it, in server/resources/: withEvent(unit, '${event}', present${resource}, (db) => …)`,
      `Announce it to readers: info.version, and \`${event}\` below "### Contract" in CHANGELOG.md`,
    ],
  };
}
