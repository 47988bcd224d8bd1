import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type Registry, scrapeOf } from './metrics.js';

/** A readiness check: resolves if healthy, otherwise rejects with a sentence for the operator. */
export type ReadinessChecks = Record<string, () => Promise<void>>;

interface Dependencies {
  pool: { query(text: string): Promise<unknown> };
  bus: { health(): Promise<void> };
  storage?: { check(): Promise<void> };
}

/** Ready if everything that a program depends on is available. */
export function checksOf({ pool, bus, storage }: Dependencies): ReadinessChecks {
  return {
    database: async () => void (await pool.query('SELECT 1')),
    bus: () => bus.health(),
    ...(storage && { storage: () => storage.check() }),
  };
}

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

interface Answer {
  status: number;
  type: string;
  text: string;
}

async function answerOf(
  { url, headers }: IncomingMessage,
  { checks, registry }: HealthServerOptions,
): Promise<Answer> {
  switch ((url ?? '/').split('?')[0]) {
    case '/health/live':
      return json(200, { live: true });
    case '/health/ready': {
      const state = await readiness(checks);
      return json(state.ready ? 200 : 503, state);
    }
    case '/metrics':
      return { status: 200, ...(await scrapeOf(registry, headers.accept)) };
    default:
      return json(404, { error: 'not found' });
  }
}

function json(status: number, body: unknown): Answer {
  return { status, type: 'application/json', text: JSON.stringify(body) };
}

/** Serves /health/live, /health/ready and /metrics on a separate port, away from the public address. */
export async function startHealthServer(options: HealthServerOptions): Promise<Server> {
  const server = createServer((request, response) => {
    void answerOf(request, options)
      .catch(() => json(500, { error: 'internal' }))
      .then(({ status, type, text }) => response.writeHead(status, { 'content-type': type }).end(text));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return server;
}
