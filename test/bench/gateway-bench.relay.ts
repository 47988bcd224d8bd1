import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { createCustomer } from '#people/accounts/customers.js';
import { openPool } from '#database/database.js';
import { readEmbeddedConnection } from '#database/embedded-postgres.js';
import { VENDORA_MAIN } from '#groups/group.js';
import { checkLedger } from '#ledger/checks/ledger-check.js';
import { parseAmount } from '#money/amount.js';
import { priceCredits, STANDARD_RATE } from '#topup/conversion.js';
import type { Children } from './children.js';
import type { ProcessGroup } from './memory.js';
import { recordTopup } from '../support/topups.js';
import { UNTHROTTLED } from '../support/unthrottled.js';

/** How the relay runs: all in one process, or as programs over Kafka. */
export type Mode = 'standalone' | 'kafka';

/** The line that `start` and `distributed` print with --json. */
interface ReadyLine {
  baseUrl: string;
  pid?: number;
  databaseUrl?: string;
  pids?: Record<'gateway' | 'billing' | 'videoWorker', number[]> &
    Record<'kafka' | 'postgres', number | null>;
}

export interface Books {
  ok: boolean;
  violations: { invariant: number; message: string }[];
  charges: Record<string, number>;
}

/** Everything is installed. This starts a database, a broker and three programs, on a machine that may be busy. */
const START_LIMIT_MS = 180_000;
/** The last settlements may still be in transit over Kafka. */
const SETTLE_LIMIT_MS = 60_000;
const CREDITS_PER_ACCOUNT = '1000000';

/** A relay in a separate folder whose only upstream is the stub. */
export class BenchRelay {
  private constructor(
    readonly baseUrl: string,
    readonly processes: ProcessGroup[],
    private readonly billing: pg.Pool,
    private readonly stopProcesses: () => Promise<void>,
  ) {}

  /** If the upstream has no address, the relay starts its own sandbox. */
  static async start(
    mode: Mode,
    upstream: string | { url: string; isThrottled: boolean },
    children: Children,
  ): Promise<BenchRelay> {
    const { url: upstreamUrl, isThrottled } =
      typeof upstream === 'string' ? { url: upstream, isThrottled: false } : upstream;
    const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
    const removeData = () => rm(dataDir, { recursive: true, force: true });
    children.whenGone(removeData);
    // Never use a database or broker that belongs to something else.
    const { DATABASE_URL: _database, KAFKA_BROKERS: _brokers, ...inherited } = process.env;
    const env = {
      ...(isThrottled ? {} : UNTHROTTLED),
      ...inherited,
      DATA_DIR: dataDir,
      PORT: '0',
      CONSOLE_PORT: '0',
      SANDBOX_URL: upstreamUrl,
      SANDBOX_API_KEY: 'bench',
    };
    const args = mode === 'standalone' ? [STANDALONE, '--json'] : [DISTRIBUTED, '--json', '--data', dataDir];
    try {
      const started = await children.startUntilReady<ReadyLine>(args, { env, limitMs: START_LIMIT_MS });
      const { child, ready } = started;
      const url = ready.databaseUrl ?? readEmbeddedConnection(join(dataDir, 'database'))?.urlFor('billing');
      if (!url) throw new Error('the relay runs, but its database was not found');
      const billing = openPool({ url, max: 2, applicationName: 'bench', statementTimeoutMs: 0 });
      return new BenchRelay(ready.baseUrl, processesOf(ready, child), billing, async () => {
        await children.stop(child);
        await removeData();
      });
    } catch (error) {
      await removeData();
      throw error;
    }
  }

  /** Sets how many concurrent calls each channel allows. */
  async limitChannels(places: number): Promise<void> {
    await this.billing.query('UPDATE channels SET max_concurrency = $1', [places]);
  }

  /** Creates customers with more credits than a benchmark can spend, and returns their keys. */
  async openAccounts(count: number): Promise<string[]> {
    const keys: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const { accountId, apiKey } = await createCustomer(this.billing, {
        name: `bench ${index}`,
        group: VENDORA_MAIN,
      });
      await recordTopup(this.billing, {
        accountId,
        provider: 'manual',
        paymentId: accountId,
        ...priceCredits(parseAmount(CREDITS_PER_ACCOUNT), STANDARD_RATE),
        rate: STANDARD_RATE,
        currency: 'USD',
      });
      keys.push(apiKey);
    }
    return keys;
  }

  /** The ledger once nothing is held any more: charges by state, and whether its invariants hold. */
  async books(): Promise<Books> {
    const deadlineMs = Date.now() + SETTLE_LIMIT_MS;
    let charges = await this.charges();
    while ((charges['held'] ?? 0) > 0 && Date.now() < deadlineMs) charges = await this.charges();
    const { ok, violations } = await checkLedger(this.billing, { graceMs: 0 });
    return { ok, violations: violations.map(({ invariant, message }) => ({ invariant, message })), charges };
  }

  /** When each completed task was completed in the database, in milliseconds since 1970, by its upstream ID. */
  async completedTasks(): Promise<Map<string, number>> {
    const { rows } = await this.billing.query<{ upstream_id: string; ended_at: Date }>(
      `SELECT upstream_id, ended_at FROM tasks WHERE state = 'completed'`,
    );
    return new Map(rows.map((row) => [row.upstream_id, row.ended_at.getTime()]));
  }

  async stop(): Promise<void> {
    await this.billing.end();
    await this.stopProcesses();
  }

  private async charges(): Promise<Record<string, number>> {
    const { rows } = await this.billing.query<{ state: string; count: number }>(
      'SELECT state, count(*)::int AS count FROM charges GROUP BY state',
    );
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  }
}

const STANDALONE = 'dist/apps/standalone/main.js';
const DISTRIBUTED = 'scripts/distributed.mjs';

function processesOf({ pid, pids }: ReadyLine, child: ChildProcess): ProcessGroup[] {
  const root = pid ?? child.pid ?? 0;
  if (!pids) {
    return [
      { name: 'standalone', pids: [root], withChildren: false },
      { name: 'postgres', pids: [root], withChildren: true, onlyNamed: 'postgres' },
    ];
  }
  const { gateway, billing, videoWorker, kafka, postgres } = pids;
  return [
    { name: 'gateway', pids: gateway, withChildren: false },
    { name: 'billing', pids: billing, withChildren: false },
    { name: 'video-worker', pids: videoWorker, withChildren: false },
    { name: 'postgres', pids: postgres ? [postgres] : [], withChildren: true },
    { name: 'kafka', pids: kafka ? [kafka] : [], withChildren: false },
  ];
}
