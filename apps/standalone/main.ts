import { rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { setUpDatabase } from '#operations/database.setup.js';
import { operatorSentence } from '#database/operator-sentence.js';
import { portFault } from '#platform/program.js';
import type { SandboxOptions } from '#apps/sandbox-upstream/sandbox-server.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#database/embedded-postgres.js';
import { ConfigReader, readAlone } from '#platform/config.js';
import { startHealthServer } from '#platform/health.js';
import { createLogger, type Logger } from '#platform/logging.js';
import { readSecrets } from '#platform/sealed-secret.js';
import { type RunningRelay, startRelay } from './composition.js';
import {
  chainKeyEnvironment,
  type DataFolder,
  dataFolder,
  prepareDataFolder,
  readOrMakeSecrets,
  secretsKeyEnvironment,
  type RelayRecord,
  writePrivateJson,
} from '#operations/data-folder.js';
import { type DemoAccount, ensureDemoAccount } from './demo-account.js';
import { greeting, HELP } from './texts.js';

interface StandaloneConfig {
  host: string;
  port: number;
  consolePort: number;
  /** 0: no port of its own for health and metrics. */
  healthPort: number;
  /** An upstream to use in place of the built-in sandbox. */
  sandboxUrl: string | undefined;
  sandboxApiKey: string | undefined;
  sandbox: SandboxOptions;
  stopLimitMs: number;
}

function readConfig(env: NodeJS.ProcessEnv): StandaloneConfig {
  const reader = new ConfigReader(env);
  const port = (name: string, fallback: number) => reader.integer(name, { fallback, min: 0, max: 65_535 });
  return reader.finish({
    host: reader.string('HOST', '127.0.0.1'),
    port: port('PORT', 8787),
    consolePort: port('CONSOLE_PORT', 8788),
    healthPort: port('HEALTH_PORT', 0),
    sandboxUrl: reader.optionalString('SANDBOX_URL') && reader.url('SANDBOX_URL'),
    sandboxApiKey: reader.optionalSecret('SANDBOX_API_KEY'),
    sandbox: {
      imageSeconds: reader.seconds('SANDBOX_IMAGE_SECONDS', 0.3) / 1000,
      videoSeconds: reader.seconds('SANDBOX_VIDEO_SECONDS', 6) / 1000,
    },
    stopLimitMs: reader.seconds('SHUTDOWN_GRACE_SECONDS', 30) + STOP_MARGIN_MS,
  });
}

/** After the grace for calls in flight: time to announce what is left and to stop the database. */
const STOP_MARGIN_MS = 15_000;

/** Everything that runs, stopped in the order of the list's end first. */
class Standalone {
  private readonly log: Logger = createLogger('standalone', process.env['LOG_LEVEL'] ?? 'warn');
  private readonly folder: DataFolder = dataFolder(process.env);
  private database: EmbeddedPostgres | undefined;
  private relay: RunningRelay | undefined;
  private health: Server | undefined;

  constructor(private readonly config: StandaloneConfig) {}

  async start(): Promise<{ relay: RunningRelay; demo: DemoAccount }> {
    const { config, folder, log } = this;
    prepareDataFolder(folder);
    const database = await startEmbeddedPostgres({ dataDir: folder.database, log });
    this.database = database;
    const secrets = readOrMakeSecrets(folder);
    const ownEnv = {
      ...secretsKeyEnvironment(folder, process.env),
      ...chainKeyEnvironment(folder, process.env),
      ...process.env,
    };
    const { sandboxUrl } = config;
    const external = sandboxUrl && { baseUrl: sandboxUrl, apiKey: config.sandboxApiKey ?? '' };
    await setUpDatabase({
      ownerUrl: database.ownerUrl,
      sandbox: external || undefined,
      secrets: readAlone(ownEnv, readSecrets),
    });
    const relay = await startRelay({
      databaseUrls: {
        gateway: database.urlFor('gateway'),
        worker: database.urlFor('worker'),
        billing: database.urlFor('billing'),
      },
      storageDir: folder.files,
      host: config.host,
      port: config.port,
      consolePort: config.consolePort,
      env: {
        URL_SIGNING_SECRET: secrets.urlSigningSecret,
        MAIL_DIR: folder.mail,
        PUBLIC_CONSOLE_URL: `http://${config.host}:${config.consolePort}`,
        ...ownEnv,
      },
      sandbox: external
        ? false
        : { ...config.sandbox, stateDir: folder.sandbox, apiKey: secrets.sandboxApiKey },
      log,
    });
    this.relay = relay;
    await this.openHealth(relay);
    const demo = await ensureDemoAccount(relay.billingPool, folder);
    const { baseUrl, consoleUrl } = relay;
    writePrivateJson(folder.relayFile, { pid: process.pid, baseUrl, consoleUrl } satisfies RelayRecord);
    return { relay, demo };
  }

  /** Calls in flight end, then the programs, then the database. Repeated signals change nothing. */
  async stop(): Promise<void> {
    this.health?.close();
    if (this.relay) rmSync(this.folder.relayFile, { force: true });
    try {
      await this.relay?.close();
    } finally {
      await this.database?.stop();
    }
  }

  private async openHealth({ checks, registry }: RunningRelay): Promise<void> {
    const { host, healthPort } = this.config;
    if (healthPort === 0) return;
    this.health = await startHealthServer({ host, port: healthPort, checks, registry }).catch((error) => {
      throw portFault(error, 'HEALTH_PORT', { host, port: healthPort });
    });
  }
}

async function main(): Promise<void> {
  const json = process.argv.includes('--json');
  const config = readConfig(process.env);
  const standalone = new Standalone(config);
  const started = standalone.start();
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), config.stopLimitMs).unref();
    await started.catch(() => undefined);
    await standalone.stop();
    process.exit(0);
  };
  // A terminal's Ctrl-C reaches this process, and npm passes it on once more; the second must not cut the first short.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void stop());
  // Whoever read the ready line may have closed the pipe since.
  process.stdout.on('error', () => undefined);

  const { relay, demo } = await started.catch(async (error: unknown) => {
    await standalone.stop();
    throw error;
  });
  if (stopping) return;
  const { baseUrl, consoleUrl } = relay;
  const ready = { ready: true, baseUrl, consoleUrl, apiKey: demo.apiKey, pid: process.pid };
  process.stdout.write(json ? `${JSON.stringify(ready)}\n` : greeting(ready));
}

if (process.argv.includes('--help') || process.argv.includes('-h')) {
  process.stdout.write(HELP);
} else {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`${operatorSentence(error) ?? (error as Error).stack}\n`);
    process.exit(1);
  }
}
