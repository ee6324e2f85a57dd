import { EventEmitter, once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { listen } from '../../server/kit/http/listen.ts';
import { createEntrance } from '../../testing/program/entrance.ts';

it('a caller who leaves during a reset is not waited for by the next one', async () => {
  const seen = new EventEmitter();
  const entrance = createEntrance((app, ...more) =>
    listen(
      (req, res) => {
        res.once('close', () => seen.emit('gone'));
        app(req, res);
        seen.emit('arrived');
      },
      ...more,
    ),
  );
  const served: (string | undefined)[] = [];
  const app: RequestListener = ({ url }, res) => {
    served.push(url);
    res.end();
  };
  const open = () =>
    entrance.listen(app, { host: '127.0.0.1', port: 0 }, { note: () => undefined, allowOf: () => undefined });
  const { port } = await open();
  entrance.hold();
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /left HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(seen, 'arrived');
  socket.destroy();
  await once(seen, 'gone');
  await open();
  await fetch(`http://127.0.0.1:${port}/stayed`);
  expect(served).toEqual(['/stayed']);
  await entrance.close();
});
