// Connections to receivers, kept for a moment after an answer, because connecting takes longer than most deliveries. Only the
// lookup of a new connection checks the address (guard.ts). A kept one still goes to the address that was checked, and is
// used again for the same subscription, host and port only: an answer that a receiver sends twice may be taken for that to the
// next request, which must not be another account's.
import { Agent as HttpAgent, type ClientRequestArgs } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';

export interface Connections {
  agentOf: (url: URL) => HttpAgent;
  /** Closes those that are not in use. */
  close: () => void;
}

/** Belongs to the options of a request. */
export interface Use {
  subscription: string;
}

export const connectionLimits = {
  /** Shorter than most receivers wait before they close a connection, so few deliveries meet one that is just being closed. */
  idleMilliseconds: 2_000,
  /** A receiver that moves to another address gets its deliveries there after this time. */
  oldestMilliseconds: 60_000,
  /** Kept per subscription. As many attempts are under way to one subscription. */
  idlePerSubscription: 4,
  idle: 200,
};

const closeMilliseconds = 1_000;

export function createConnections(limits = connectionLimits): Connections {
  const created = new WeakMap<Socket, number>();
  /** How each connection that is not in use is made ready for the next request. */
  const idle = new Map<Socket, () => void>();

  const watch = (socket: Socket) => {
    const close = () => {
      socket.emit('agentRemove');
      closeSoon(socket);
    };
    // Nobody has asked for these bytes: they would be taken for the answer to the next request.
    const onData = () => socket.destroy();
    const timer = setTimeout(close, limits.idleMilliseconds).unref();
    const forget = () => {
      clearTimeout(timer);
      idle.delete(socket);
      socket.off('data', onData).off('close', forget);
    };
    socket.on('data', onData).on('close', forget);
    idle.set(socket, forget);
  };

  const keeping = <A extends HttpAgent>(agent: A): A => {
    const keep: (socket: Socket) => unknown = agent.keepSocketAlive.bind(agent);
    const reuse = agent.reuseSocket.bind(agent);
    const nameOf = agent.getName.bind(agent);
    agent.getName = (options: ClientRequestArgs & Partial<Use> = {}) =>
      `${options.subscription ?? ''} ${nameOf(options)}`;
    agent.keepSocketAlive = (socket: Socket) => {
      const since = created.get(socket) ?? performance.now();
      created.set(socket, since);
      if (idle.size >= limits.idle || performance.now() - since > limits.oldestMilliseconds) return false;
      // False if the receiver has said that it closes the connection.
      const isKept = keep(socket) === true;
      if (isKept) watch(socket);
      return isKept;
    };
    agent.reuseSocket = (socket: Socket, request) => {
      idle.get(socket)?.();
      reuse(socket, request);
    };
    return agent;
  };

  const options = { keepAlive: true, maxFreeSockets: limits.idlePerSubscription };
  const http = keeping(new HttpAgent(options));
  // Without a cache of sessions, the certificate is checked at each new connection.
  const https = keeping(new HttpsAgent({ ...options, maxCachedSessions: 0 }));
  return {
    agentOf: ({ protocol }) => (protocol === 'https:' ? https : http),
    close: () => {
      for (const socket of idle.keys()) socket.destroy();
    },
  };
}

/** Closes in order, with TLS's goodbye, but does not wait long for a receiver that reads nothing. */
export function closeSoon(socket: Socket): void {
  if (socket.destroyed) return;
  const timer = setTimeout(() => socket.destroy(), closeMilliseconds);
  timer.unref();
  socket.once('close', () => {
    clearTimeout(timer);
  });
  socket.destroySoon();
}
