// Which errors mean that the database is away, slow or full, so that the caller gets 504, and which are faults of ours.
import { describe, expect, it } from 'vitest';
import { Overloaded, DatabaseTimeout, isConnectionLost, isOutage } from '../../server/kit/faults.ts';

const coded = (code: string, message = 'said PostgreSQL') => Object.assign(new Error(message), { code });

describe('an outage', () => {
  it.each<[string, Error]>([
    ['no answer in time', new DatabaseTimeout('late')],
    ['no place in time', new Overloaded('late')],
    ['a connection that breaks', coded('08006')],
    ['PgBouncer without PostgreSQL', coded('08P01', 'server login has been failing')],
    ['a stop', coded('57P01')],
    ['a crash', coded('57P02')],
    ['a start', coded('57P03')],
    ['an idle session that was ended', coded('57P05')],
    ['a statement that took too long', coded('57014')],
    ['a transaction that took too long', coded('25P04')],
    ['a lock that took too long', coded('55P03')],
    ['a standby', coded('25006')],
    ['a full disk', coded('53100')],
    ['no memory', coded('53200')],
    ['too many connections', coded('53300')],
    ['a disk that fails', coded('58030')],
    ['nobody listens', coded('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5432')],
    ['a socket that is gone', coded('ENOENT', 'connect ENOENT /run/postgresql/.s.PGSQL.5432')],
    ['no network', coded('EHOSTUNREACH', 'connect EHOSTUNREACH 10.0.0.1:5432')],
    ['a name that is not resolved', coded('EAI_AGAIN', 'getaddrinfo EAI_AGAIN db')],
    ['a connection that is reset', coded('ECONNRESET', 'read ECONNRESET')],
    ['a network that loses packets', coded('ETIMEDOUT', 'read ETIMEDOUT')],
    [
      'nobody listens at any address of localhost',
      new AggregateError([coded('ECONNREFUSED', 'connect ECONNREFUSED ::1:5432')]),
    ],
    ['a connection that ends', new Error('Connection terminated unexpectedly')],
    ['a connection that has ended', new Error('Client was closed and is not queryable')],
    ['a connection that was not made', new Error('timeout expired')],
    ['a pool without a connection', new Error('timeout exceeded when trying to connect')],
    ['a stranger at the port', new Error('another program has the port of the embedded database')],
  ])('is %s', (_, error) => {
    expect(isOutage(error)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['a bug', new TypeError('x is not a function')],
    ['what is no error', 'read it again'],
    ['a file that is missing', coded('ENOENT', "ENOENT: no such file or directory, open '/x'")],
    ['a table that is missing', coded('42P01')],
    ['a right that is missing', coded('42501')],
    ['a wrong password', coded('28P01')],
    ['a database that does not exist', coded('3D000')],
    ['a certificate that has expired', coded('CERT_HAS_EXPIRED', 'certificate has expired')],
    ['a deadlock, after all repetitions', coded('40P01')],
    ['a transaction in which we did nothing for a minute', coded('25P03')],
    ['a value out of range', coded('22003')],
  ])('is not %s', (_, error) => {
    expect(isOutage(error)).toBe(false);
  });
});

it('only a lost connection has changed nothing', () => {
  const lost = [coded('57P01'), coded('EPIPE'), new Error('Connection terminated')];
  expect(lost.map(isConnectionLost)).toEqual([true, true, true]);
  expect([coded('57014'), coded('53300'), new DatabaseTimeout('late')].map(isConnectionLost)).toEqual([
    false,
    false,
    false,
  ]);
});
