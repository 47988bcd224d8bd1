import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { asLogin, createTestDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { ensureBuilt, killLaunched, launch, run } from '../support/programs.js';
import { runTollgate } from '../support/tollgate.js';
import { socketOf, TcpSwitch } from '../support/tcp-switch.js';

interface LocalProgram {
  entry: string;
  environment(place: object, instance: object): Record<string, string>;
}

const KINDS = ['gateway', 'billing', 'control-plane', 'video-worker'];
const SENTENCE =
  'The database is newer than this Tollgate: it has the migration 9999_takes.sql, but the last one known here is';
const SECRET = 'x'.repeat(43);

let programs: Record<string, LocalProgram>;
let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  ensureBuilt();
  const script = pathToFileURL(join(import.meta.dirname, '../../scripts/lib/programs.mjs')).href;
  ({ programs } = (await import(script)) as { programs: typeof programs });
  folder = mkdtempSync(join(tmpdir(), 'tollgate-versions-'));
  database = await createTestDatabase();
  await asLogin(database.ownerUrl, (owner) =>
    owner.query(`INSERT INTO schema_migrations (name, sha256, needs) VALUES ('9999_takes.sql', 'x', '9998')`),
  );
});

afterEach(() => killLaunched());

afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true });
});

/** No program asks a broker before the database. */
function environmentOf(kind: string, urlOf: (url: string) => string = (url) => url) {
  const place = {
    databaseUrl: (role: 'gateway' | 'worker' | 'billing') => urlOf(database.urlFor(role)),
    brokers: ['127.0.0.1:1'],
    storageDir: folder,
    mailDir: folder,
    baseUrl: 'http://127.0.0.1:1',
    urlSigningSecret: SECRET,
    secretsKey: Buffer.alloc(32, 1).toString('base64'),
    consoleGrantSecret: SECRET,
  };
  return { ...programs[kind]!.environment(place, { port: 0, healthPort: 0 }), LOG_LEVEL: 'warn' };
}

it.each(KINDS)('a %s does not start on a schema without what it uses', async (kind) => {
  const { code, stderr } = await run(programs[kind]!.entry, [], environmentOf(kind));
  expect(stderr).toContain(SENTENCE);
  expect(code).toBe(1);
});

it.each([
  ['topup', 'record', 'acc_1', '--credits', '1', '--payment-id', 'cash-1'],
  ['ledger', 'check'],
])('tollgate %s %s does not run on it', async (...args) => {
  const { code, stderr } = await runTollgate(args, { DATABASE_URL: database.urlFor('billing') });
  expect(stderr).toContain(SENTENCE);
  expect(code).toBe(1);
});

it('a program without a database waits for it, then checks its schema', async () => {
  const way = await TcpSwitch.open({ path: join(folder, 'nothing') });
  try {
    const billing = launch(
      programs['billing']!.entry,
      [],
      environmentOf('billing', (url) => way.urlOf(url)),
    );
    await until('it to wait', async () => billing.stderr().includes('waiting for the database'));
    way.lead(socketOf(database.ownerUrl));
    expect(await billing.gone).toBeNull();
    expect(billing.stderr()).toContain(SENTENCE);
  } finally {
    await way.close();
  }
});

it('a program that waits for its database is alive, not ready, and stops on request', async () => {
  const port = await freePort();
  const nowhere = environmentOf('billing', () => 'postgres://nobody@127.0.0.1:1/none');
  const billing = launch(programs['billing']!.entry, [], { ...nowhere, HEALTH_PORT: String(port) });
  await until('it to wait', async () => billing.stderr().includes('waiting for the database'));
  const statusOf = async (path: string) => (await fetch(`http://127.0.0.1:${port}/health/${path}`)).status;
  expect([await statusOf('live'), await statusOf('ready')]).toEqual([200, 503]);
  expect(await billing.end('SIGTERM')).toBe(143);
});
