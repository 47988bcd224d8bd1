import { rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { setUpDatabase } from '#operations/database.setup.js';
import { operatorSentence } from '#database/operator-sentence.js';
import { portFault } from '#platform/program.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#database/embedded-postgres.js';
import { readAlone } from '#platform/config.js';
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
  type RelaySecrets,
  writePrivateJson,
} from '#operations/data-folder.js';
import { type DemoAccount, ensureDemoAccount } from './demo-account.js';
import { readStandaloneProgram, type StandaloneConfig } from './standalone.config.js';
import { greeting, help } from './texts.js';

interface OwnSettings {
  secrets: RelaySecrets;
  ownEnv: NodeJS.ProcessEnv;
  hasSandbox: boolean;
}

/** Everything that runs. Stopped from the end of the list to its start. */
class Standalone {
  private readonly log: Logger;
  private readonly folder: DataFolder = dataFolder(process.env);
  private database: EmbeddedPostgres | undefined;
  private relay: RunningRelay | undefined;
  private health: Server | undefined;

  constructor(private readonly config: StandaloneConfig) {
    this.log = createLogger('standalone', config.logLevel);
  }

  async start(): Promise<{ relay: RunningRelay; demo: DemoAccount }> {
    const { config, folder, log } = this;
    prepareDataFolder(folder);
    const database = await startEmbeddedPostgres({ dataDir: folder.database, log });
    this.database = database;
    const secrets = readOrMakeSecrets(folder);
    const keys = {
      ...secretsKeyEnvironment(folder, process.env),
      ...chainKeyEnvironment(folder, process.env),
    };
    const ownEnv = { ...keys, ...process.env };
    const { sandboxUrl } = config;
    const external = sandboxUrl && { baseUrl: sandboxUrl, apiKey: config.sandboxApiKey ?? '' };
    const { ownerUrl } = database;
    const sealing = readAlone(ownEnv, readSecrets);
    await setUpDatabase({ ownerUrl, sandbox: external || undefined, secrets: sealing });
    const relay = await this.startPrograms(database, { secrets, ownEnv, hasSandbox: !external });
    this.relay = relay;
    await this.openHealth(relay);
    const demo = await ensureDemoAccount(relay.billingPool, folder);
    const { baseUrl, consoleUrl } = relay;
    writePrivateJson(folder.relayFile, { pid: process.pid, baseUrl, consoleUrl } satisfies RelayRecord);
    return { relay, demo };
  }

  private startPrograms(
    database: EmbeddedPostgres,
    { secrets, ownEnv, hasSandbox }: OwnSettings,
  ): Promise<RunningRelay> {
    const { config, folder, log } = this;
    return startRelay({
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
      sandbox: hasSandbox && { ...config.sandbox, stateDir: folder.sandbox, apiKey: secrets.sandboxApiKey },
      log,
    });
  }

  /** Finishes calls in flight, then stops the programs, then the database. Repeated signals change nothing. */
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
  const config = readAlone(process.env, readStandaloneProgram);
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
  onStopSignal(() => void stop());
  // The reader of the ready line may have closed the pipe by now.
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

/** Ctrl-C in a terminal reaches this process twice: directly and through npm. The second must not cut the first short. */
function onStopSignal(stop: () => void): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
}

if (process.argv.includes('--help') || process.argv.includes('-h')) {
  process.stdout.write(help());
} else {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`${operatorSentence(error) ?? (error as Error).stack}\n`);
    process.exit(1);
  }
}
