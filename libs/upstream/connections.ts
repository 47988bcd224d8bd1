import { Agent, type Dispatcher } from 'undici';
import { KeyRests } from './health/key-rests.js';
import { connectPublicOnly } from './public-address.js';

/**
 * Connections per upstream host. An image takes seconds, so a hundred calls per second need a thousand connections.
 * More would only fill this process's table of open files.
 */
const CONNECTIONS_PER_HOST = 1024;
/** DNS, TCP and TLS together. An upstream that needs longer counts as down. */
const CONNECT_LIMIT_MS = 10_000;
/** File downloads are few and long. Each host has its own small pool, so that a slow one does not block others. */
const COPIES_PER_HOST = 64;
/**
 * The idle time after which a connection to a named host is closed, whatever that host asks for. Customers name hosts by the
 * thousand, and each could ask for ten minutes.
 */
const IDLE_LIMIT_MS = 1_000;
/** Connections to hosts that someone else named. */
const TO_NAMED_HOSTS = {
  connections: COPIES_PER_HOST,
  pipelining: 1,
  keepAliveTimeout: IDLE_LIMIT_MS,
  keepAliveMaxTimeout: IDLE_LIMIT_MS,
};

/**
 * The pools to upstreams: one for their APIs, whose address the operator configured, and two for files, whose address
 * an upstream or a client named. These must be public addresses, unless the operator allows private ones.
 */
export class UpstreamConnections {
  /** The channel keys that their vendors refused. */
  readonly keyRests = new KeyRests();
  readonly api: Dispatcher = new Agent({
    connections: CONNECTIONS_PER_HOST,
    pipelining: 1,
    connect: { timeout: CONNECT_LIMIT_MS },
  });
  readonly publicFiles: Dispatcher = new Agent({
    ...TO_NAMED_HOSTS,
    connect: connectPublicOnly({ timeout: CONNECT_LIMIT_MS }),
  });
  readonly anyFiles: Dispatcher = new Agent({
    ...TO_NAMED_HOSTS,
    connect: { timeout: CONNECT_LIMIT_MS },
  });

  /** Ends every connection. Calls in progress end as if the connection had broken. */
  async close(): Promise<void> {
    await Promise.all([this.api.destroy(), this.publicFiles.destroy(), this.anyFiles.destroy()]);
  }
}
