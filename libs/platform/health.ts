import { createServer, type Server } from 'node:http';
import { type Registry, scrapeOf } from './metrics.js';

/** A readiness check: resolves if healthy, otherwise rejects with a sentence for the operator. */
export type ReadinessChecks = Record<string, () => Promise<void>>;

const CHECK_LIMIT_MS = 2_000;

/** Runs every check with a time limit. Never throws. */
export async function readiness(
  checks: ReadinessChecks,
): Promise<{ ready: boolean; checks: Record<string, string> }> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await outcomeOf(check)] as const),
  );
  return { ready: results.every(([, state]) => state === 'ok'), checks: Object.fromEntries(results) };
}

async function outcomeOf(check: () => Promise<void>): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${CHECK_LIMIT_MS} ms`)), CHECK_LIMIT_MS);
  });
  try {
    await Promise.race([check(), limit]);
    return 'ok';
  } catch (error) {
    return error instanceof Error ? error.message : 'failed';
  } finally {
    clearTimeout(timer);
  }
}

export interface HealthServerOptions {
  host: string;
  port: number;
  /** May be replaced while it serves. */
  checks: ReadinessChecks;
  registry: Registry;
}

/** Serves /health/live, /health/ready and /metrics on a separate port, away from the public address. */
export async function startHealthServer(options: HealthServerOptions): Promise<Server> {
  const server = createServer((request, response) => {
    void (async () => {
      const path = (request.url ?? '/').split('?')[0];
      if (path === '/health/live') return reply(200, 'application/json', '{"live":true}');
      if (path === '/health/ready') {
        const state = await readiness(options.checks);
        return reply(state.ready ? 200 : 503, 'application/json', JSON.stringify(state));
      }
      if (path === '/metrics') {
        const { type, text } = await scrapeOf(options.registry, request.headers.accept);
        return reply(200, type, text);
      }
      return reply(404, 'application/json', '{"error":"not found"}');
    })().catch(() => reply(500, 'application/json', '{"error":"internal"}'));

    function reply(status: number, type: string, body: string): void {
      response.writeHead(status, { 'content-type': type });
      response.end(body);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return server;
}
