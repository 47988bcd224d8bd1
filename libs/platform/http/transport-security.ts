import type { FastifyInstance } from 'fastify';

/** A year, which is what browsers and checkers of sites ask for. */
const HSTS = 'max-age=31536000';

/**
 * Has browsers use https from now on, where the public address is https. Other hosts of the domain are not ours to decide
 * about. Call it before anything else that answers.
 */
export function addTransportSecurity(server: FastifyInstance, publicUrl: string | undefined): void {
  if (!publicUrl?.startsWith('https:')) return;
  server.addHook('onRequest', (_request, reply, done) => {
    void reply.header('strict-transport-security', HSTS);
    done();
  });
}
