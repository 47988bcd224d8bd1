import type pg from 'pg';
import { readPaymentCurrency } from '#payments/payments.config.js';
import { dataFolder } from '#operations/data-folder.js';
import { Bus } from '#bus/bus.js';
import { KafkaTransport } from '#bus/kafka/kafka.transport.js';
import { loadCatalog } from '#catalog/catalog.store.js';
import { pendingMigrations } from '#database/migrations.js';
import { operatorSentence } from '#database/operator-sentence.js';
import { ConfigReader } from '#platform/config.js';
import { OperatorError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { createLogger } from '#platform/logging.js';
import { Registry } from '#platform/metrics.js';
import { readSecrets } from '#platform/sealed-secret.js';
import { settingNames } from '#platform/settings/settings.js';
import { openStorage, readStorageConfig } from '#storage/storage.config.js';
import { onAnyDatabase } from '../database.access.js';
import { tillOfBus, tillOfLedger, tryCharge } from './trial-charge.js';

export interface DoctorFinding {
  check: string;
  /** 'skip': this program cannot tell. */
  state: 'ok' | 'warn' | 'fail' | 'skip';
  detail: string;
  /** What to do next. Null if all is well. */
  advice: string | null;
}

type Env = NodeJS.ProcessEnv;

/** Beyond the first, a difference between clocks confuses people; beyond the second, it affects the expiry of requests. */
const SKEW_WARN_MS = 1_000;
const SKEW_FAIL_MS = 5_000;
/** An outbox row that waits longer than this is stuck. */
const OUTBOX_WARN_SECONDS = 60;
const BUS_LIMIT_MS = 15_000;
/** PostgreSQL's code for a missing grant. */
const NOT_PERMITTED = '42501';

/** Tries everything that a relay needs, in turn. What cannot be tried has a reason. */
export async function examine(env: Env, report: (finding: DoctorFinding) => void): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = [];
  const note = (finding: DoctorFinding) => {
    findings.push(finding);
    report(finding);
  };
  note(await examined('configuration', CONFIGURE, async () => readEverything(env)));
  note(await examined('storage', STORE, () => tryStorage(env)));
  try {
    await onAnyDatabase(env, async (pool) => examineDatabase(pool, env, note));
  } catch (error) {
    note(fault('database', error, REACH));
  }
  return findings;
}

const CONFIGURE = 'Correct the variables that are named; docs/configuration.md lists every one.';
const STORE = 'Make the folder writable for the programs, or correct STORAGE_DIR or the S3_ variables.';
const REACH =
  'Start the database, and check DATABASE_URL, the login of the role tollgate_billing (or DATA_DIR).';
const MIGRATE = 'Run `tollgate migrate` with OWNER_DATABASE_URL.';
const SERVE =
  'Add a channel in the console, or run migrate with SANDBOX_URL for the sandbox; then `tollgate channels test`.';
const START = 'Start the brokers and billing, and check KAFKA_BROKERS and KAFKA_NAMESPACE.';

async function examineDatabase(
  pool: pg.Pool,
  env: Env,
  note: (finding: DoctorFinding) => void,
): Promise<void> {
  const login = await examined('database', REACH, () => readLogin(pool));
  note(login);
  if (login.state === 'fail') return;
  const schema = await examined('migrations', MIGRATE, () => readSchema(pool));
  note(schema);
  note(await examined('clock', 'Let both machines keep their time by NTP.', () => compareClocks(pool)));
  if (schema.state === 'fail') return;
  note(
    await examined('announcements', 'Look at the log of billing, gateway and worker.', () =>
      readOutbox(pool),
    ),
  );
  note(
    await examined('dead letters', 'See `tollgate dead-letters list`: a person must decide.', () =>
      readLetters(pool),
    ),
  );
  note(await examined('channels', SERVE, () => readChannels(pool)));
  await examineBus(pool, env, note);
}

/** Over the bus if there is one: then billing itself answers. */
async function examineBus(pool: pg.Pool, env: Env, note: (finding: DoctorFinding) => void): Promise<void> {
  const brokers = new ConfigReader(env).get('KAFKA_BROKERS', []);
  if (brokers.length === 0) {
    note(ok('bus', 'within the process: KAFKA_BROKERS is not set'));
    note(await examined('trial charge', 'Run `tollgate ledger check`.', () => tryHold(pool, null, env)));
    return;
  }
  const transport = newTransport(brokers, env['KAFKA_NAMESPACE'] ?? '');
  const bus = new Bus(transport.client({ asks: true }), { requestTimeoutMs: BUS_LIMIT_MS });
  try {
    const found = await examined('bus', START, async () => {
      await inTime(bus.connect().then(() => bus.health())).catch((error: Error) => {
        throw new OperatorError(error.message);
      });
      return `Kafka at ${brokers.join(', ')}`;
    });
    note(found);
    if (found.state === 'fail') return;
    note(await examined('trial charge', START, () => tryHold(pool, bus, env)));
  } finally {
    await bus.close().catch(() => undefined);
    await transport.close().catch(() => undefined);
  }
}

function newTransport(brokers: string[], namespace: string): KafkaTransport {
  const log = createLogger('tollgate', 'silent');
  const onFatal = () => undefined;
  return new KafkaTransport({
    brokers,
    namespace,
    clientId: 'doctor',
    log,
    registry: new Registry(),
    onFatal,
  });
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new OperatorError(`no answer within ${BUS_LIMIT_MS / 1000} s`)),
      BUS_LIMIT_MS,
    );
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

function readEverything(env: Env): string {
  const reader = new ConfigReader(env);
  for (const name of settingNames) if (env[name] || env[`${name}_FILE`]) reader.get(name);
  if (env['SECRETS_KEY'] || env['SECRETS_KEY_FILE']) readSecrets(reader);
  reader.finish({});
  return 'every variable that is set is valid';
}

async function tryStorage(env: Env): Promise<string | Partial<DoctorFinding>> {
  const reader = new ConfigReader(env);
  // Some distributed programs store no files and have no folder for them.
  if (env['DATABASE_URL'] && !env['STORAGE_DIR'] && reader.get('STORAGE') === 'file') {
    return { state: 'skip', detail: 'this program keeps no files: STORAGE_DIR is not set' };
  }
  const folder = env['STORAGE_DIR'] || dataFolder(env).files;
  const storage = openStorage(reader.finish(readStorageConfig(reader, folder)));
  const key = `doctor/${newId()}.txt`;
  const content = Buffer.from('written by tollgate doctor');
  await storage.write(key, content, { maxBytes: content.length });
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of await storage.open(key)) chunks.push(chunk as Buffer);
    if (!Buffer.concat(chunks).equals(content)) throw new OperatorError('the file read back differs');
  } finally {
    await storage.remove(key);
  }
  return `wrote, read and removed a file in ${storage.place}`;
}

async function readLogin(pool: pg.Pool): Promise<string | Partial<DoctorFinding>> {
  const { rows } = await pool.query<{ login: string; version: string; isOwner: boolean }>(
    `SELECT current_user AS login, current_setting('server_version') AS version,
       (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
         OR pg_has_role(current_user, (SELECT datdba FROM pg_database WHERE datname = current_database()), 'USAGE') AS "isOwner"`,
  );
  const { login = '', version = '', isOwner = false } = rows[0] ?? {};
  const detail = `PostgreSQL ${version}, as ${login}`;
  return isOwner ? { state: 'warn', detail: `${detail}, which may do more than billing needs` } : detail;
}

async function readSchema(pool: pg.Pool): Promise<string> {
  const pending = await pendingMigrations(pool);
  if (pending.length > 0) throw new OperatorError(`not applied yet: ${pending.join(', ')}`);
  return 'all are applied';
}

async function compareClocks(pool: pg.Pool): Promise<string | Partial<DoctorFinding>> {
  const beforeMs = Date.now();
  const { rows } = await pool.query<{ ms: number }>(
    `SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms`,
  );
  const middleMs = (beforeMs + Date.now()) / 2;
  const skewMs = Math.round(Math.abs((rows[0]?.ms ?? 0) - middleMs));
  const detail = `${skewMs} ms between this machine and the database`;
  if (skewMs >= SKEW_FAIL_MS) throw new OperatorError(detail);
  return skewMs >= SKEW_WARN_MS ? { state: 'warn', detail } : detail;
}

async function readOutbox(pool: pg.Pool): Promise<string | Partial<DoctorFinding>> {
  const { rows } = await pool.query<{ count: number; age: number }>(
    `SELECT count(*)::int AS count, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS age FROM outbox`,
  );
  const { count = 0, age = 0 } = rows[0] ?? {};
  if (count === 0) return 'none is waiting';
  const detail = `${count} waiting, the oldest for ${Math.round(age)} s`;
  return age > OUTBOX_WARN_SECONDS ? { state: 'warn', detail } : detail;
}

async function readLetters(pool: pg.Pool): Promise<string | Partial<DoctorFinding>> {
  const { rows } = await pool.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM dead_letters WHERE replayed_at IS NULL',
  );
  const count = rows[0]?.count ?? 0;
  return count === 0 ? 'none' : { state: 'warn', detail: `${count} messages could not be handled` };
}

async function readChannels(pool: pg.Pool): Promise<string | Partial<DoctorFinding>> {
  const { channels, models } = await loadCatalog(pool);
  const enabled = channels.filter((channel) => channel.enabled);
  const served = new Set(enabled.flatMap((channel) => [...channel.models.keys()]));
  const without = [...models.values()].filter(({ id, enabled: isOn }) => isOn && !served.has(id));
  const detail = `${enabled.length} enabled, ${models.size} models`;
  if (enabled.length === 0) return { state: 'warn', detail: 'none is enabled: no call can be served' };
  if (without.length === 0) return detail;
  const names = without.slice(0, 5).map(({ id }) => id);
  return { state: 'warn', detail: `${detail}; ${without.length} without a channel: ${names.join(', ')}` };
}

/** As standalone decides it, whose database needs no address; elsewhere payments are played only where it is said. */
function playedCurrency(env: Env): string | null {
  const reader = new ConfigReader(env);
  const isStandalone = !env['DATABASE_URL'] && !env['STRIPE_SECRET_KEY'] && !env['STRIPE_SECRET_KEY_FILE'];
  return reader.get('SANDBOX_PAYMENTS', isStandalone) ? readPaymentCurrency(reader) : null;
}

async function tryHold(pool: pg.Pool, bus: Bus | null, env: Env): Promise<string> {
  const till = bus ? tillOfBus(bus) : tillOfLedger(pool);
  try {
    const beganMs = performance.now();
    const trial = await tryCharge(pool, till, { playedCurrency: playedCurrency(env) });
    const { outcome, model, amount, accountId } = trial;
    const way = bus ? 'by billing, over the bus' : 'in the ledger';
    const tookMs = Math.round(performance.now() - beganMs);
    if (outcome === 'given_back')
      return `held ${amount} credits for a call of ${model} and released it ${way}, in ${tookMs} ms`;
    return `refused to hold ${amount} credits ${way}, in ${tookMs} ms, as expected: account ${accountId} has no balance`;
  } finally {
    if (!bus) await till.close();
  }
}

/** Runs a check; what it throws is its failure. */
async function examined(
  check: string,
  advice: string,
  work: () => Promise<string | Partial<DoctorFinding>>,
): Promise<DoctorFinding> {
  try {
    const result = await work();
    if (typeof result === 'string') return ok(check, result);
    return { check, state: 'ok', detail: '', advice, ...result };
  } catch (error) {
    if ((error as { code?: string }).code !== NOT_PERMITTED) return fault(check, error, advice);
    const detail = "this program's login may not see it: run doctor with that of tollgate_billing";
    return { check, state: 'skip', detail, advice: null };
  }
}

function ok(check: string, detail: string): DoctorFinding {
  return { check, state: 'ok', detail, advice: null };
}

function fault(check: string, error: unknown, advice: string): DoctorFinding {
  const detail = operatorSentence(error) ?? (error instanceof Error ? error.message : String(error));
  return { check, state: 'fail', detail, advice };
}
