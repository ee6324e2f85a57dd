// Recovery to a point in time, as docs/operating.md describes it: a base backup and archived WAL bring back the cards that were
// stored until then, and the service opens them with the same secrets, but not with others.
import { randomBytes } from 'node:crypto';
import { appendFile, chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { programs } from '../../../scripts/nightly/needs.ts';
import { signToken } from '../../../server/kit/access/token.ts';
import { createCaller, type Caller } from '../../support/call.ts';
import { card } from '../../support/card.ts';
import { withClient } from '../../support/cluster.ts';
import { eventually, newDataDir } from '../../support/data-dir.ts';
import { keyIn } from '../../support/keys.ts';
import { startAsOrdinaryUser } from '../../support/ordinary-user.ts';
import { freePort } from '../../support/ports.ts';
import { createPayments, startServer } from '../../support/processes.ts';

const program = (name: string) => programs.initdb.replace(/initdb$/, name);
const urlOf = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`;

async function newCluster() {
  const folder = await mkdtemp(join(tmpdir(), 'payments-recovery-'));
  await chmod(folder, 0o755);
  await mkdir(join(folder, 'archive'));
  const run = async (name: string, args: string[]) => {
    const child = startAsOrdinaryUser(folder, program(name), args);
    child.process.stdin.end();
    const { status, output } = await child.ended;
    expect(status, output).toBe(0);
  };
  const start = async (data: string) => {
    const port = await freePort();
    const address = ['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${folder}`];
    const child = startAsOrdinaryUser(folder, program('postgres'), [
      ...['-D', join(folder, data), '-p', String(port), ...address],
    ]);
    await eventually(() => {
      if (child.process.exitCode !== null) throw new Error(`PostgreSQL ended: ${child.output()}`);
      return withClient(urlOf(port), async (client) => {
        const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
        return rows[0]?.standby === false;
      }).catch(() => false);
    }, 'PostgreSQL accepts writes');
    return {
      port,
      kill: async () => {
        // SIGQUIT: all processes end at once, as after a crash.
        child.process.kill('SIGQUIT');
        await child.ended;
      },
    };
  };
  return {
    ...{ folder, run, start },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

const storeCard = async (call: Caller, token: string) => {
  const { status, body } = await call('POST', '/payment-methods', { token, body: card });
  expect(status).toBe(201);
  return (body as { id: string }).id;
};

it('brings back every card until that time, and only the same secrets open them', async () => {
  await using cluster = await newCluster();
  const { folder, run, start } = cluster;
  await run('initdb', ['-D', join(folder, 'data'), '-U', 'postgres', '--auth=trust', '--encoding=UTF8']);
  const archive = join(folder, 'archive');
  await appendFile(
    join(folder, 'data', 'postgresql.conf'),
    `archive_mode = on\narchive_command = 'test ! -f ${archive}/%f && cp %p ${archive}/%f'\n`,
  );
  const first = await start('data');
  await using dataDir = await newDataDir();
  const env = { DATA_DIR: dataDir.path, DATABASE_URL: urlOf(first.port) };
  const before = await startServer(env);
  const key = keyIn(dataDir.path);
  const token = signToken(key, ['*.read', '*.write'], 3600);
  const call = createCaller(before.url);

  const inBackup = await storeCard(call, token);
  await run('pg_basebackup', [
    ...['-D', join(folder, 'restored'), '-h', '127.0.0.1', '-p', String(first.port), '-U', 'postgres'],
    '--checkpoint=fast',
  ]);
  const inArchive = await storeCard(call, token);
  const target = await withClient(urlOf(first.port), async (client) => {
    const { rows } = await client.query<{ time: string }>('select clock_timestamp()::text as time');
    return rows[0]?.time ?? '';
  });
  const tooLate = await storeCard(call, token);
  await withClient(urlOf(first.port), async (client) => {
    // The accident, and the last segment goes to the archive.
    await client.query('truncate payment_methods cascade');
    await client.query('select pg_switch_wal()');
    await eventually(async () => {
      const { rows } = await client.query<{ done: boolean }>(
        `select last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 16777216) as done from pg_stat_archiver`,
      );
      return rows[0]?.done === true;
    }, 'the last segment is archived');
  });
  await before.stop();
  await first.kill();

  await writeFile(join(folder, 'restored', 'recovery.signal'), '');
  await appendFile(
    join(folder, 'restored', 'postgresql.conf'),
    `archive_mode = off\nrestore_command = 'cp ${archive}/%f %p'\nrecovery_target_time = '${target}'\n` +
      `recovery_target_action = promote\n`,
  );
  const second = await start('restored');
  try {
    const restored = { ...env, DATABASE_URL: urlOf(second.port) };
    const payments = createPayments(restored);
    await using after = await startServer(restored);
    const { rows } = await withClient(urlOf(second.port), (client) =>
      client.query<{ id: string }>('select id from payment_methods where id = any($1)', [
        [inBackup, inArchive, tooLate],
      ]),
    );
    expect(rows.map(({ id }) => id).sort()).toEqual([inBackup, inArchive].sort());
    // Opens every sealed value.
    const doctor = await payments(['doctor']);
    expect(doctor.output).not.toContain('does not open');
    expect(doctor.status).toBe(0);
    const moved = await payments(
      ['payment-methods', 'found-replacement', inArchive, '--expiration-date', '11/44', '--new-number'],
      '4242424242424242\n',
    );
    expect(moved.status, moved.output).toBe(0);
    await storeCard(createCaller(after.url), token);

    const others = createPayments({ ...restored, CARD_KEY: randomBytes(32).toString('base64') });
    const refused = await others(['doctor']);
    expect(refused.status).toBe(1);
  } finally {
    await second.kill();
  }
});
