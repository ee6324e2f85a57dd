// Examples are what the mock serves and what readers copy: on every media type, shared, paired by scenario.

export const examples = () => ({
  MediaType(media, ctx) {
    const entries = Object.entries(media.examples ?? {});
    if (media.example !== undefined || entries.length === 0) {
      ctx.report({
        message: 'Give this media type named examples by $ref to components/examples, the happy one first.',
        location: ctx.location.key(),
      });
    }
    for (const [name, example] of entries) {
      if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name)) {
        ctx.report({
          message: `Name the example "${name}" after its scenario in snake_case, such as "expired_card".`,
          location: ctx.location.child(['examples', name]).key(),
        });
      }
      if (!/examples\/[^/]+$/.test(example.$ref ?? '')) {
        ctx.report({
          message: `Move the example "${name}" to a file in components/examples and refer to it, so that it can be shared.`,
          location: ctx.location.child(['examples', name]),
        });
      }
    }
  },
  Example(example, ctx) {
    if (typeof example.summary === 'string' && example.summary.length > 0) return;
    ctx.report({
      message: 'Add a summary that names the scenario in a few words.',
      location: ctx.location.key(),
    });
  },
});

const names = (media) => Object.keys(media?.content?.['application/json']?.examples ?? {});

// The same key on both sides of an operation is how readers, and the mock, find the answer to a request.
export const pairedExamples = () => ({
  Paths: {
    Operation(operation, ctx) {
      if (!operation.requestBody) return;
      const asked = names(ctx.resolve(operation.requestBody).node);
      const answered = Object.entries(operation.responses ?? {}).map(([status, response]) => ({
        status,
        keys: names(ctx.resolve(response).node),
      }));
      for (const key of asked) {
        if (answered.filter(({ keys }) => keys.includes(key)).length === 1) continue;
        ctx.report({
          message: `The request example "${key}" must have exactly one response example of the same name: add it to the response that it leads to.`,
          location: ctx.location.child('requestBody'),
        });
      }
      for (const { status, keys } of answered.filter((answer) => answer.status.startsWith('2'))) {
        for (const key of keys.filter((name) => !asked.includes(name))) {
          ctx.report({
            message: `The response example "${key}" has no request example of the same name: add the request that leads to it.`,
            location: ctx.location.child(['responses', status]),
          });
        }
      }
    },
  },
});
