import { Agent, type Dispatcher } from 'undici';
import { KeyRests } from './health/key-rests.js';
import { connectPublicOnly } from './public-address.js';

/**
 * Connections per upstream host. An image takes seconds, so a thousand in flight is what a hundred calls a second
 * need; more would only fill this process's table of open files.
 */
const CONNECTIONS_PER_HOST = 1024;
/** DNS, TCP and TLS together; an upstream that needs longer is down for our purposes. */
const CONNECT_LIMIT_MS = 10_000;
/** File copies are few and long; each host gets its own small pool so that a slow one starves no other. */
const COPIES_PER_HOST = 64;

/**
 * The pools towards upstreams: one for their interfaces, whose address the operator configured, and two for files,
 * whose address an upstream names: only public addresses, unless the channel is the operator's own.
 */
export class UpstreamConnections {
  /** Which keys of channels their vendors turned away. */
  readonly keyRests = new KeyRests();
  readonly api: Dispatcher = new Agent({
    connections: CONNECTIONS_PER_HOST,
    pipelining: 1,
    connect: { timeout: CONNECT_LIMIT_MS },
  });
  readonly publicFiles: Dispatcher = new Agent({
    connections: COPIES_PER_HOST,
    pipelining: 1,
    connect: connectPublicOnly({ timeout: CONNECT_LIMIT_MS }),
  });
  readonly anyFiles: Dispatcher = new Agent({
    connections: COPIES_PER_HOST,
    pipelining: 1,
    connect: { timeout: CONNECT_LIMIT_MS },
  });

  /** Ends every connection; calls in progress end as if the connection had broken. */
  async close(): Promise<void> {
    await Promise.all([this.api.destroy(), this.publicFiles.destroy(), this.anyFiles.destroy()]);
  }
}
