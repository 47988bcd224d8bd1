import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { readBillingConfig } from '#apps/billing/billing.config.js';
import { startBilling } from '#apps/billing/billing.program.js';
import { readControlPlaneConfig } from '#apps/control-plane/control-plane.config.js';
import { type RunningControlPlane, startControlPlane } from '#apps/control-plane/control-plane.program.js';
import { readGatewayConfig } from '#apps/gateway/gateway.config.js';
import { startGateway } from '#apps/gateway/gateway.program.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '#apps/sandbox-upstream/sandbox-server.js';
import { readVideoWorkerConfig } from '#apps/video-worker/video-worker.config.js';
import { startVideoWorker } from '#apps/video-worker/video-worker.program.js';
import { parseChaos } from '#bus/chaos.js';
import { InProcessTransport } from '#bus/in-process/in-process.transport.js';
import { groups } from '#bus/topics.js';
import { configureSandboxChannel, seedSandboxCosts } from '#catalog/catalog.seed.js';
import { inTransaction, openPool } from '#database/database.js';
import { type Clock, systemClock } from '#platform/clock.js';
import { ConfigReader } from '#platform/config.js';
import type { ReadinessChecks } from '#platform/health.js';
import { createLogger, type Logger } from '#platform/logging.js';
import { createRegistry, type Registry } from '#platform/metrics.js';
import type { SecretBox } from '#platform/sealed-secret.js';
import { readTelemetry } from '#platform/telemetry/telemetry.config.js';
import { startTelemetry } from '#platform/telemetry/telemetry.js';
import { openStorage, readStorageConfig } from '#storage/storage.config.js';

export interface StandaloneOptions {
  /** A login for each program's role, on one migrated database with a catalog. */
  databaseUrls: Record<'gateway' | 'worker' | 'billing', string>;
  /** The folder for finished files, unless `env` names another store. */
  storageDir: string;
  /** 127.0.0.1 by default. */
  host?: string;
  /** 0, the default, takes a free port. */
  port?: number;
  consolePort?: number;
  /** The programs' configuration (docs/configuration.md), and nothing else. URL_SIGNING_SECRET and SECRETS_KEY are required. */
  env: NodeJS.ProcessEnv;
  /** Settings of the sandbox upstream that serves every model; false leaves the channels as they are. */
  sandbox?: SandboxOptions | false;
  log?: Logger;
  clock?: Clock;
}

export interface RunningRelay {
  /** The base URL for clients, without /v1. */
  baseUrl: string;
  consoleUrl: string;
  /** Undefined without a sandbox. */
  sandboxUrl: string | undefined;
  /** Billing's own connections. */
  billingPool: pg.Pool;
  checks: ReadinessChecks;
  /** The metrics of all programs. */
  registry: Registry;
  /**
   * Drains in order: takes no new calls and finishes those in flight, takes no new tasks, publishes the outbox, then stops
   * the sandbox and closes the connections. Safe to repeat.
   */
  close(): Promise<void>;
}

type Program = 'gateway' | 'worker' | 'billing';

/** Connections per role: together well under the embedded server's hundred. */
const POOL_SIZES: Record<Program, number> = { gateway: 24, worker: 12, billing: 16 };

/**
 * Runs the four programs and the sandbox upstream in this process, over the in-process bus and an existing database. They
 * are the same modules as in distributed mode, each with its own connections and role.
 * @throws OperatorError if a port is taken or a setting is wrong, after stopping everything started so far.
 */
export async function startRelay(options: StandaloneOptions): Promise<RunningRelay> {
  const running = new Undo();
  try {
    return await start(options, running);
  } catch (error) {
    await running.all();
    throw error;
  }
}

/** What was started, to be stopped once, in reverse order. */
class Undo {
  private readonly steps: (() => Promise<unknown>)[] = [];
  private undone: Promise<void> | undefined;

  add(step: () => Promise<unknown>): void {
    this.steps.push(step);
  }

  /** Waits for something that is starting, and closes it with the rest. */
  async after<Started extends { close(): Promise<unknown> }>(begun: Promise<Started>): Promise<Started> {
    const started = await begun;
    this.add(() => started.close());
    return started;
  }

  all(): Promise<void> {
    this.undone ??= this.run();
    return this.undone;
  }

  /** A failed step must not prevent the later ones; the first failure is thrown at the end. */
  private async run(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.steps.reverse()) await step().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }
}

/** What the programs share in this process. */
type Ground = Awaited<ReturnType<typeof prepare>>;

async function prepare(options: StandaloneOptions, undo: Undo) {
  const config = readConfigs(options);
  const log = options.log ?? createLogger('standalone');
  const registry = createRegistry('standalone');
  const telemetry = await startTelemetry(config.telemetry, { program: 'standalone', registry, log });
  undo.add(() => telemetry.stop());
  const pools = openPools(options, { connectTimeoutMs: config.connectTimeoutMs, log, registry }, undo);
  const sealed = { billing: pools.billing, secrets: config.controlPlane.secrets };
  const sandbox = await openSandbox(options.sandbox, sealed, undo);
  const transport = new InProcessTransport({ groups: Object.values(groups), log, registry });
  undo.add(() => transport.close());
  const clock = options.clock ?? systemClock;
  return {
    config,
    log,
    registry,
    pools,
    sandbox,
    transport,
    clock,
    storage: openStorage(config.storage, registry),
  };
}

async function start(options: StandaloneOptions, undo: Undo): Promise<RunningRelay> {
  const host = hostOf(options);
  const ground = await prepare(options, undo);
  const { config, registry, pools, sandbox, storage } = ground;
  const billing = await undo.after(startBilling({ ...partsOf('billing', ground), config: config.billing }));
  // Certain only once it listens, which is after the control plane does.
  let gatewayPort = options.port ?? 0;
  const baseUrl = () => origin(host, gatewayPort);
  const controlPlane = await undo.after(startConsole(options, ground, baseUrl));
  const worker = await undo.after(
    startVideoWorker({ ...partsOf('worker', ground), storage, config: config.worker }),
  );
  const listen = { host, port: gatewayPort };
  const gateway = await undo.after(
    startGateway({ ...partsOf('gateway', ground), storage, config: config.gateway, listen }),
  );
  gatewayPort = gateway.port;
  return {
    baseUrl: baseUrl(),
    consoleUrl: origin(host, controlPlane.consolePort),
    sandboxUrl: sandbox?.url,
    billingPool: pools.billing,
    checks: { ...billing.checks, ...controlPlane.checks, ...worker.checks, ...gateway.checks },
    registry,
    close: () => undo.all(),
  };
}

function startConsole(
  options: StandaloneOptions,
  ground: Ground,
  baseUrl: () => string,
): Promise<RunningControlPlane> {
  const { config, log } = ground;
  return startControlPlane({
    ...partsOf('billing', ground),
    log: log.child({ part: 'control-plane' }),
    databaseUrl: options.databaseUrls.billing,
    reportsUrl: config.reportsUrl,
    config: config.controlPlane,
    console: { host: hostOf(options), port: options.consolePort ?? 0 },
    baseUrl,
  });
}

function hostOf({ host = '127.0.0.1' }: StandaloneOptions): string {
  return host;
}

function partsOf(program: Program, { config, log, registry, pools, transport, clock }: Ground) {
  const { chaos } = config;
  return { transport, clock, chaos, registry, pool: pools[program], log: log.child({ part: program }) };
}

function readConfigs({ env, storageDir }: StandaloneOptions) {
  // Payments are simulated unless a real provider is configured.
  const SANDBOX_PAYMENTS = env['STRIPE_SECRET_KEY'] || env['STRIPE_SECRET_KEY_FILE'] ? 'false' : 'true';
  // There is only one gateway and one control plane, so they need not ask others.
  const CONSOLE_GRANT_SECRET = randomBytes(32).toString('base64url');
  const reader = new ConfigReader({ SANDBOX_PAYMENTS, CONSOLE_GRANT_SECRET, ...env });
  const configs = {
    gateway: readGatewayConfig(reader),
    worker: readVideoWorkerConfig(reader),
    billing: readBillingConfig(reader),
    controlPlane: readControlPlaneConfig(reader),
    connectTimeoutMs: reader.get('DATABASE_CONNECT_SECONDS'),
    reportsUrl: reader.get('REPORTS_DATABASE_URL'),
    storage: readStorageConfig(reader, storageDir),
    chaos: parseChaos(env['BUS_CHAOS']),
    telemetry: readTelemetry(reader),
  };
  return reader.finish(configs);
}

function openPools(
  options: StandaloneOptions,
  parts: { connectTimeoutMs: number; log: Logger; registry: Registry },
  undo: Undo,
): Record<Program, pg.Pool> {
  const open = (program: Program) => {
    const pool = openPool({
      url: options.databaseUrls[program],
      max: POOL_SIZES[program],
      applicationName: `standalone-${program}`,
      ...parts,
    });
    undo.add(() => pool.end());
    return pool;
  };
  return { gateway: open('gateway'), worker: open('worker'), billing: open('billing') };
}

async function openSandbox(
  wanted: SandboxOptions | false | undefined,
  { billing, secrets }: { billing: pg.Pool; secrets: SecretBox },
  undo: Undo,
): Promise<Sandbox | undefined> {
  if (wanted === false) return undefined;
  const apiKey = wanted?.apiKey ?? 'sandbox-key';
  const sandbox = await startSandbox({ ...wanted, apiKey });
  undo.add(() => sandbox.close());
  await inTransaction(billing, async (client) => {
    await configureSandboxChannel(client, { baseUrl: sandbox.url, apiKey }, secrets);
    await seedSandboxCosts(client);
  });
  return sandbox;
}

function origin(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
