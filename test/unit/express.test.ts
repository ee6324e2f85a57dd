// Express changes no prototype of a request or response, because they have the right one from the start.
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { createExpress } from '../../server/kit/http/express.ts';

it('makes messages with the prototypes that Express would give them', () => {
  const app = createExpress();
  const req = new app.messages.IncomingMessage(new Socket());
  const res = new app.messages.ServerResponse(req);
  expect(Object.getPrototypeOf(req)).toBe(app.request);
  expect(Object.getPrototypeOf(res)).toBe(app.response);
  // What Express adds to Node's messages.
  expect(req).toMatchObject({ app, accepts: expect.any(Function) as unknown });
  expect(res).toMatchObject({ app, sendFile: expect.any(Function) as unknown });
});
