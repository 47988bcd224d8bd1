// Ports for programs that a script or a spec starts.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to connections and to programs that ask for any port, so none of these takes one
 * before its program starts, or starts again.
 */
const FROM = 15_000;
const TO = 30_000;

/**
 * Consecutive ports that are free on loopback.
 * @param {number} count
 * @returns {Promise<number[]>}
 */
export async function freePorts(count) {
  const first = randomInt(FROM, TO - count);
  const ports = Array.from({ length: count }, (_, index) => first + index);
  const servers = ports.map((port) => createServer().listen(port, '127.0.0.1'));
  const tries = await Promise.allSettled(servers.map((server) => once(server, 'listening')));
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return tries.every(({ status }) => status === 'fulfilled') ? ports : freePorts(count);
}
