import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Bus } from '#bus/bus.js';
import type { BusServer } from '#bus/bus.server.js';
import type { DeadLetter } from '#bus/delivery.js';
import { groups } from '#bus/topics.js';
import { isTransient } from '#database/database.js';
import { KeyAuthenticator } from '#identity/key-authenticator.js';
import { systemClock } from '#platform/clock.js';
import type { StartOptions } from '#operations/program-parts.js';
import { listenOn } from '#platform/program.js';
import { checksOf, type ReadinessChecks } from '#platform/health.js';
import { addTransportSecurity } from '#platform/http/transport-security.js';
import { Uploads } from '#platform/http/uploads.js';
import type { FileStore } from '#storage/file-store.js';
import { CacheEventsController } from './cache-events.controller.js';
import type { GatewayConfig } from './gateway.config.js';
import { GatewayMetrics } from './gateway.metrics.js';
import { GatewayModule } from './gateway.module.js';
import { Draining } from './http/draining.js';
import { GatewayErrorFilter } from './http/error.filter.js';
import { GatewayAdapter, prepareGateway } from './http/gateway.adapter.js';
import { ApiDocument } from './openapi/openapi.document.js';
import { BodyMemory } from './protection/body-memory.js';
import { ConcurrencyLimiter } from './protection/concurrency-limiter.js';
import { FailedKeys } from './protection/failed-keys.js';
import { hostCheck } from './protection/host-check.js';
import { Idempotency } from './protection/idempotency.js';
import { RequestLimiter } from './protection/request-limiter.js';
import { RouteTable } from './http/route-table.js';

export interface GatewayProgramOptions extends StartOptions<GatewayConfig> {
  /** Finished files, shared with the workers. */
  storage: FileStore;
  /** Where clients connect; port 0 takes a free one. */
  listen: { host: string; port: number };
  /** How long clients may take to leave for another gateway before this one closes; without another one, none. */
  drainMs?: number;
}

export interface RunningGateway {
  port: number;
  checks: ReadinessChecks;
  /** Stops accepting requests, and finishes those in progress within a time limit. The pool and the transport stay open. */
  close(): Promise<void>;
}

/**
 * Starts a gateway: first it listens for cache events, then it opens its address.
 * @throws OperatorError if the port is taken; BusWiringError if a handler is missing
 */
export async function startGateway(options: GatewayProgramOptions): Promise<RunningGateway> {
  const { transport, registry, log, storage } = options;
  const { busRequestTimeoutMs: limitMs } = options.config;
  const limits = { requestTimeoutMs: limitMs, publishTimeoutMs: limitMs };
  const bus = new Bus(transport.client({ asks: true }), { registry, ...limits });
  const app = await createApplication(options, { bus, storage });
  const { drainMs } = options;
  const draining =
    drainMs === undefined ? undefined : new Draining(app.getHttpAdapter().getInstance(), drainMs);
  const close = async () => {
    await draining?.run();
    await closeWithin(app, options.config.shutdownGraceMs);
    await bus.close();
  };
  try {
    app.connectMicroservice({ strategy: cacheEventServer(app, options) }, { inheritAppConfig: false });
    await app.startAllMicroservices();
    await bus.connect();
    const port = await listenOn(app, 'PORT', options.listen);
    return { port, checks: checksOf({ pool: options.pool, bus, storage }), close };
  } catch (error) {
    await close().catch((failure: unknown) => log.error({ err: failure }, 'the gateway did not close'));
    throw error;
  }
}

async function createApplication(
  options: GatewayProgramOptions,
  { bus, storage }: { bus: Bus; storage: FileStore },
): Promise<NestFastifyApplication> {
  const { pool, config, log, registry, clock = systemClock } = options;
  const app = await NestFactory.create<NestFastifyApplication>(
    GatewayModule.register({ pool, bus, storage, config, log, registry, clock }),
    new GatewayAdapter({ trustProxy: config.trustProxy }),
    { logger: false, abortOnError: false, bodyParser: false },
  );
  const routes = new RouteTable();
  const server = app.getHttpAdapter().getInstance();
  addTransportSecurity(server, config.publicBaseUrl);
  prepareGateway(server, { ...partsOf(app), routes, checkHost: hostCheck(config.allowedHosts) });
  app.useGlobalFilters(new GatewayErrorFilter(log));
  return app;
}

function partsOf(app: NestFastifyApplication) {
  return {
    keys: app.get(KeyAuthenticator),
    metrics: app.get(GatewayMetrics),
    document: app.get(ApiDocument),
    failedKeys: app.get(FailedKeys),
    limiter: app.get(RequestLimiter),
    concurrency: app.get(ConcurrencyLimiter),
    memory: app.get(BodyMemory),
    uploads: app.get(Uploads),
    idempotency: app.get(Idempotency),
  };
}

function cacheEventServer(app: NestFastifyApplication, options: GatewayProgramOptions): BusServer {
  const { transport, log, registry, chaos } = options;
  return transport.server({
    groups: [groups.gateway],
    isTransient,
    // An unreadable cache event is only logged, because caches are short-lived.
    onDeadLetter: async ({ topic, reason }: DeadLetter) =>
      log.warn({ topic, reason }, 'an event could not be read'),
    onAssigned: () => app.get(CacheEventsController).dropAll(),
    log,
    registry,
    chaos,
  });
}

/** Connections that fall idle while the server closes would otherwise stay open for the rest of their keep-alive. */
const IDLE_CHECK_MS = 50;

/** What is still in flight after the limit loses its connection; its charge is resolved by the sweeps. */
async function closeWithin(app: NestFastifyApplication, limitMs: number): Promise<void> {
  const server = app.getHttpServer();
  // Only after it has read the calls that have arrived.
  const closeIdle = () => setImmediate(() => server.closeIdleConnections());
  const idle = setInterval(closeIdle, IDLE_CHECK_MS);
  const limit = setTimeout(() => server.closeAllConnections(), limitMs);
  try {
    await app.close();
  } finally {
    clearInterval(idle);
    clearTimeout(limit);
  }
}
