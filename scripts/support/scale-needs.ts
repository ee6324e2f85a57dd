// The programs that `npm run test:nightly -- scale` starts, and how to get them. Only Debian 12 was tried.
import { existsSync } from 'node:fs';

export const needs = {
  initdb: '/usr/lib/postgresql/15/bin/initdb',
  patroni: '/usr/bin/patroni',
  etcd: '/usr/bin/etcd',
  haproxy: '/usr/sbin/haproxy',
};

// In run level 1 Debian does not start the services that it installs.
export const install =
  'RUNLEVEL=1 apt-get install --no-install-recommends postgresql-15 patroni etcd-server haproxy';

export const missing = (): string[] => Object.values(needs).filter((file) => !existsSync(file));
