// `npm run new -- event transaction.captured`: the webhook, its map entry, its payload and an example of it.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { append, indent, inTurn, todo } from './contract-text.ts';
import { mustMatch, pascal, plural, sentence, snake, spoken, withArticle } from './names.ts';
import { Refusal, type Plan } from './plan.ts';
import { component, exampleOf, tagsOf, type Project } from './project.ts';

/** What to do in the store, where no function takes announcements yet. */
async function storeStep(project: Project, event: string): Promise<string[]> {
  const [type = '', happened = ''] = event.split('.');
  const file = `server/store/${plural(type)}.ts`;
  const text = await readFile(join(project.root, file), 'utf8').catch(() => undefined);
  if (text?.includes('Announcement')) return [];
  if (text === undefined)
    return happened === 'created'
      ? [
          `If it is stored, write its table, whose insert${pascal(type)} takes the event: npm run new -- table ${snake(plural(type))}`,
        ]
      : [];
  const verb = { created: 'insert', deleted: 'delete' }[happened] ?? 'update';
  return [
    `Let ${verb}${pascal(type)} of ${file} take the announcement: docs/guides/backend-engineer.md, "An event"`,
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
  return {
    write: {
      [`openapi/webhooks/${event}.yaml`]: `post:
  operationId: on${name}
  tags: [${tag}]
  summary: ${sentence(says)}
  description: >-${todo('say when it is sent')}
    Sent after ${says}. \`target\` is the whole resource. Check the signature before you trust the payload; see
    [Webhooks](#section/Webhooks). Deliveries may repeat and overtake each other: deduplicate on \`webhook-id\`.
  security: []
  parameters:
    - $ref: ../components/parameters/WebhookId.yaml
    - $ref: ../components/parameters/WebhookTimestamp.yaml
    - $ref: ../components/parameters/WebhookSignature.yaml
  requestBody:
    description: The event.
    required: true
    content:
      application/json:
        schema:
          $ref: ../components/schemas/${name}Event.yaml
        examples:
          ${happened.replaceAll('-', '_')}:
            $ref: ../components/examples/Event${name}.yaml
  responses:
    2XX:
      description: Any 2xx status within 15 seconds tells us that the event has arrived. The body is not read.
    4XX:
      description: The delivery failed and is tried again. 410 switches the subscription off.
    5XX:
      description: The delivery failed and is tried again.
`,
      [component('schemas', `${name}Event`)]: `description: Tells that ${says}.
type: object
additionalProperties: false
required: [type, id, name, created_at, merchant_account_id, target]
properties:
  type:
    description: Always \`event\`.
    type: string
    const: event
  id:
    description: The ID of the event, the same as in the header \`webhook-id\`.
    type: string
    format: uuid
  name:
    description: Always \`${event}\`.
    type: string
    const: ${event}
  created_at:
    description: When it happened.
    $ref: ./Timestamp.yaml
  merchant_account_id:
    description: The merchant account where it happened.
    type: string
  target:
    description: The ${spoken(resource)} as the API shows it, as it was when the event happened.
    $ref: ./${resource}.yaml
`,
      [component('examples', `Event${name}`)]: `summary: ${sentence(says)}
value:
  type: event
  id: 5b1f0a0e-3a55-4b40-9a0f-7d0c6f4f1a77
  name: ${event}
  created_at: '2026-11-14T02:00:00.000Z'
  merchant_account_id: default
  target:
    $ref: ./${example}.yaml#/value
`,
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
      `Announce it in the action that causes it, in server/actions/: announce(unit, '${event}', present${resource})`,
      `Announce it to readers: info.version, and \`${event}\` below "### Contract" in CHANGELOG.md`,
    ],
  };
}
