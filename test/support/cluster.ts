import { mkdtempSync, chmodSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#database/embedded-postgres.js';
import { migrate } from '#database/migrations.js';
import { prepareDatabase } from '#database/prepare-database.js';
import { databaseUrlOf } from '#database/roles.js';
import {
  clusterVariable,
  letOwnerForge,
  rolePasswords,
  templateDatabase,
  type ClusterAnswer,
} from './database.js';

/** For a test cluster: it loses everything if the machine crashes. */
const hastySettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '128MB',
  max_connections: 300,
  max_wal_size: '1GB',
};

/**
 * Starts one cluster for the whole run when the first spec asks for a database; a run that needs none pays nothing. An
 * environment variable carries the address to the workers.
 */
export async function offerCluster(): Promise<{ close(): Promise<void> }> {
  let cluster: Promise<Cluster> | undefined;
  const server = createServer((_request, response) => {
    cluster ??= startCluster();
    // Otherwise, a worker that asks again minutes later could get a connection that is just closing.
    response.setHeader('connection', 'close');
    cluster.then(
      ({ adminUrl, ownerUrl }) =>
        response.end(JSON.stringify({ adminUrl, ownerUrl } satisfies ClusterAnswer)),
      (error: Error) => response.writeHead(500).end(error.stack),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.env[clusterVariable] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await (await cluster?.catch(() => undefined))?.stop();
    },
  };
}

interface Cluster extends ClusterAnswer {
  stop(): Promise<void>;
}

async function startCluster(): Promise<Cluster> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-test-cluster-'));
  chmodSync(dataDir, 0o755);
  const major = process.env['TOLLGATE_POSTGRES_MAJOR'];
  const server = await startEmbeddedPostgres({
    dataDir,
    log: pino({ level: 'silent' }),
    settings: hastySettings,
    ...(major && { major: Number(major) }),
  });
  const forget = forgetOnSignals(server, dataDir);
  const adminUrl = server.urlFor('admin');
  const passwords = { owner: server.passwordFor('owner'), ...rolePasswords };
  await prepareDatabase({ adminUrl, database: templateDatabase, passwords });
  await letOwnerForge(adminUrl);
  await migrate({ ownerUrl: databaseUrlOf(server.ownerUrl, templateDatabase) });
  return {
    adminUrl,
    ownerUrl: server.ownerUrl,
    stop: async () => {
      forget();
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Ctrl-C ends the run without its teardown. */
function forgetOnSignals(server: EmbeddedPostgres, dataDir: string): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const end = (signal: NodeJS.Signals) => {
    process.kill(server.pid, 'SIGQUIT');
    rmSync(dataDir, { recursive: true, force: true });
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  signals.forEach((signal) => process.once(signal, end));
  return () => signals.forEach((signal) => process.off(signal, end));
}
