import type { FastifyInstance } from 'fastify';
import { setTimeout as pause } from 'node:timers/promises';

const CHECK_MS = 50;

/**
 * Has clients leave before a server closes: from then on, each answer is the last of its connection. A connection that is
 * closed while its client sends the next call would be an error for that client. Create it before routes are registered.
 */
export class Draining {
  private isOn = false;

  /** @param limitMs a connection without a call for as long is left to be closed */
  constructor(
    private readonly instance: FastifyInstance,
    private readonly limitMs: number,
  ) {
    instance.server.on('request', (_request, response) => {
      if (this.isOn) response.shouldKeepAlive = false;
    });
    // Calls that had begun before.
    instance.addHook('onSend', async (_request, reply) => {
      if (this.isOn) reply.raw.shouldKeepAlive = false;
    });
    // A busy process may be late. Between two turns it reads the calls that have arrived, and only then closes what is idle.
    instance.addHook('preClose', (done) => void setImmediate(() => setImmediate(done)));
  }

  async run(): Promise<void> {
    this.isOn = true;
    const endMs = performance.now() + this.limitMs;
    while (performance.now() < endMs && (await this.connections()) > 0) await pause(CHECK_MS);
  }

  private connections(): Promise<number> {
    const { server } = this.instance;
    return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
  }
}
