import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { Bus } from '#bus/bus.js';
import { groups } from '#bus/topics.js';
import type { DataSource } from 'typeorm';
import { isTransient, openDataSource, openPool } from '#database/database.js';
import { systemClock } from '#platform/clock.js';
import { listenOn } from '#platform/program.js';
import { checksOf, type ReadinessChecks } from '#platform/health.js';
import { addTransportSecurity } from '#platform/http/transport-security.js';
import { Uploads } from '#platform/http/uploads.js';
import { storeDeadLetter } from '#operations/dead-letters.store.js';
import type { StartOptions } from '#operations/program-parts.js';
import type { ControlPlaneModuleOptions } from './control-plane.options.js';
import type { ControlPlaneConfig } from './control-plane.config.js';
import { ControlPlaneModule } from './control-plane.module.js';
import { ConsolePages } from './console.pages.js';
import { DocsPages } from './docs.pages.js';
import { ENTITIES } from '#operations/entities.js';
import { ConsoleAdapter, prepareConsoleServer } from './http/console.adapter.js';
import { sendersOf } from './http/session-cookie.js';
import { ApiErrorFilter } from './http/error.filter.js';

/** The console's ordinary reads and writes; reports have connections of their own. */
const ENTITY_CONNECTIONS = 5;
const REPORT_CONNECTIONS = 10;

/** Where a gateway of the same machine listens by default. */
const DEFAULT_BASE_URL = 'http://127.0.0.1:8787';

export interface ControlPlaneProgramOptions extends StartOptions<ControlPlaneConfig> {
  /** Billing's login, for the connections of entities. */
  databaseUrl: string;
  /** The same login at a read replica for reports; left out: there is none. */
  reportsUrl?: string | undefined;
  /** Where the gateway is, if it runs beside and nothing is configured. */
  baseUrl?: () => string;
  /** Where the console address listens; port 0 takes a free one. */
  console: { host: string; port: number };
}

export interface RunningControlPlane {
  consolePort: number;
  checks: ReadinessChecks;
  /** Takes no more messages, ends what is in progress and announces it. The pool and the transport stay open. */
  close(): Promise<void>;
}

/**
 * Boots the control plane: it consumes from the bus first, then opens the console address.
 * @throws OperatorError when the console's port is taken; BusWiringError when a handler is missing.
 */
export async function startControlPlane(options: ControlPlaneProgramOptions): Promise<RunningControlPlane> {
  const { pool, transport, log, registry } = options;
  const bus = new Bus(transport.client({ asks: false }), { registry });
  const entities = await openEntities(options);
  const reports = openReports(options);
  const app = await createApp(options, { bus, entities, reports });
  const close = async () => {
    await app.close();
    await bus.close();
    await entities.destroy();
    await reports?.end();
  };
  try {
    await consume(app, options);
    const consolePort = await listenOn(app, 'CONSOLE_PORT', options.console);
    return { consolePort, checks: checksOf({ pool, bus }), close };
  } catch (error) {
    await close().catch((failure: unknown) => log.error({ err: failure }, 'the control plane did not close'));
    throw error;
  }
}

function openEntities(options: ControlPlaneProgramOptions): Promise<DataSource> {
  const { databaseUrl: url, pool, log, registry } = options;
  return openDataSource({
    url,
    max: ENTITY_CONNECTIONS,
    connectTimeoutMs: pool.options.connectionTimeoutMillis,
    applicationName: 'control-plane-entities',
    log,
    registry,
    entities: ENTITIES,
  });
}

async function createApp(
  options: ControlPlaneProgramOptions,
  opened: Pick<ControlPlaneModuleOptions, 'bus' | 'entities' | 'reports'>,
): Promise<NestFastifyApplication> {
  const { pool, config, log, registry, clock = systemClock } = options;
  const pages = ConsolePages.built();
  const baseUrl = () => config.baseUrl ?? options.baseUrl?.() ?? DEFAULT_BASE_URL;
  const gatewayUrl = () => config.console.playground.gatewayUrl ?? options.baseUrl?.() ?? baseUrl();
  const parts = { ...opened, pool, config, log, registry, clock, pages, baseUrl, gatewayUrl };
  const app = await NestFactory.create<NestFastifyApplication>(
    ControlPlaneModule.register(parts),
    openAdapter(options, pages),
    { logger: false, abortOnError: false, forceCloseConnections: true, bodyParser: false },
  );
  app.useGlobalFilters(new ApiErrorFilter(log, baseUrl));
  return app;
}

function openReports(options: ControlPlaneProgramOptions): pg.Pool | undefined {
  const { reportsUrl: url, pool, log, registry } = options;
  if (url === undefined) return undefined;
  return openPool({
    url,
    max: REPORT_CONNECTIONS,
    connectTimeoutMs: pool.options.connectionTimeoutMillis,
    applicationName: 'control-plane-reports',
    readOnly: true,
    log,
    registry,
  });
}

async function consume(
  app: NestFastifyApplication,
  { pool, transport, log, registry, chaos }: ControlPlaneProgramOptions,
): Promise<void> {
  const strategy = transport.server({
    groups: [groups.controlPlane, groups.notifications],
    isTransient,
    onDeadLetter: (letter) => storeDeadLetter(pool, letter),
    log,
    registry,
    chaos,
  });
  app.connectMicroservice({ strategy });
  await app.startAllMicroservices();
}

/** The server of the console's address, before it has routes. */
function openAdapter({ config, registry }: ControlPlaneProgramOptions, pages: ConsolePages): ConsoleAdapter {
  const adapter = new ConsoleAdapter({ trustProxy: config.trustProxy });
  const server = adapter.getInstance<FastifyInstance>();
  addTransportSecurity(server, config.consoleUrl);
  prepareConsoleServer(
    server,
    new Uploads({ rules: config.uploads, registry, program: 'control_plane', membersOf: sendersOf }),
  );
  pages.serveFiles(server);
  DocsPages.built().serve(server);
  return adapter;
}
