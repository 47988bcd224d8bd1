import type { Pool, PoolClient } from 'pg';
import type { Logger } from '#platform/logging.js';
import { Loop } from '#platform/loop.js';
import { waitAtMost } from '#platform/waiting.js';
import type { Registry } from '#platform/metrics.js';
import { currentTrace, traced } from '#platform/tracing.js';
import type { Bus } from './bus.js';
import { InvalidMessage } from './bus.errors.js';
import { BusMetrics } from './bus.metrics.js';
import { encodeMessage, withTrace } from './message.js';
import type { AnyTopic, EventTopic } from './topic.js';
import { allTopics } from './topics.js';

/** The programs that publish through the outbox, as named in its rows. */
export type Producer = 'gateway' | 'worker' | 'billing';

/** An event, inserted by the transaction that makes it true. */
export interface OutboxRow {
  topic: string;
  key: string;
  /** JSON text. */
  payload: string;
}

/** @throws InvalidMessage if the payload is too large to be published. */
export function outboxRow<P extends object>(topic: EventTopic<P>, payload: P): OutboxRow {
  const { key, value } = encodeMessage(topic, withTrace(payload, currentTrace()));
  return { topic: topic.name, key, payload: value };
}

/** The statement that inserts rows, for both `pg` (`client.query(it)`) and TypeORM (`manager.query(text, values)`). */
export function outboxInsert(
  producer: Producer,
  rows: readonly OutboxRow[],
): { text: string; values: [Producer, string[], string[], string[]] } {
  return {
    text: `INSERT INTO outbox (producer, topic, key, payload)
      SELECT $1, topic, key, payload::jsonb
      FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS rows (topic, key, payload, position)
      ORDER BY position`,
    values: [
      producer,
      rows.map(({ topic }) => topic),
      rows.map(({ key }) => key),
      rows.map(({ payload }) => payload),
    ],
  };
}

interface StoredRow extends OutboxRow {
  id: string;
  traceparent: string | null;
}

export interface OutboxRelayOptions {
  /** The relay holds one of its connections while it runs. */
  pool: Pool;
  producer: Producer;
  bus: Bus;
  log: Logger;
  registry: Registry;
  /** How often to poll in case a wake() was missed, in milliseconds. */
  pollMs?: number;
  topics?: readonly AnyTopic[];
  /** How long stopping waits for publications in progress, in milliseconds. */
  drainTimeoutMs?: number;
}

const DEFAULT_POLL_MS = 1_000;
const DEFAULT_DRAIN_TIMEOUT_MS = 5_000;
const MAX_ROWS_PER_ROUND = 500;
/** Bounds the relay's memory, and how much is published twice after a crash. */
const MAX_IN_FLIGHT = 1_000;
/**
 * The shortest time between the starts of two rounds, so that a round takes many rows under load. Each round costs the
 * database a search and a deletion, which the ledger's commits would wait for.
 */
const GATHER_MS = 20;
const MEASURE_INTERVAL_MS = 5_000;
/** The namespace of our advisory locks. */
const LOCK_SPACE = 0x0b05;
const LOCK_OF: Record<Producer, number> = { gateway: 1, worker: 2, billing: 3 };

/**
 * Publishes the rows of one producer and deletes them after the acknowledgement. Of several relays, the one whose connection
 * has the lock leads. No transaction is open while the bus is called. Each round reads all visible rows, not those after a
 * certain id, because rows become visible out of order. Rows of one key are published in the order of their ids. A crash
 * between acknowledgement and deletion publishes twice.
 */
export class OutboxRelay {
  private readonly loop: Loop;
  private readonly metrics: BusMetrics;
  private readonly channel: string;
  private readonly topicNames: string[];
  private connection: PoolClient | undefined;
  private leads = false;
  /** Rows read but not yet deleted: each id with its topic and key. */
  private readonly inFlight = new Map<string, string>();
  private readonly acknowledged = new Set<string>();
  private readonly publishing = new Set<Promise<void>>();
  private failure: unknown;
  private measuredAtMs = -Infinity;
  private roundAtMs = -Infinity;
  private gathering: NodeJS.Timeout | undefined;

  constructor(private readonly options: OutboxRelayOptions) {
    const { producer, log, registry, pollMs = DEFAULT_POLL_MS, topics = allTopics } = options;
    this.metrics = new BusMetrics(registry);
    this.channel = `outbox_${producer}`;
    this.topicNames = topics.map(({ name }) => name);
    this.loop = new Loop({
      name: `outbox of ${producer}`,
      intervalMs: pollMs,
      log,
      round: () => this.round(),
    });
  }

  start(): this {
    this.loop.start();
    return this;
  }

  /** Call after a commit that wrote rows: the leading relay publishes them now. */
  wake(): void {
    if (this.gathering) return;
    const waitMs = this.roundAtMs + GATHER_MS - performance.now();
    if (waitMs <= 0) return this.loop.wake();
    this.gathering = setTimeout(() => {
      this.gathering = undefined;
      this.loop.wake();
    }, waitMs);
  }

  /** Waits for publications in progress, deletes their rows, and lets another relay lead. Remaining rows are left to it. */
  async stop(): Promise<void> {
    clearTimeout(this.gathering);
    await this.loop.stop();
    const limitMs = this.options.drainTimeoutMs ?? DEFAULT_DRAIN_TIMEOUT_MS;
    await waitAtMost(limitMs, Promise.all(this.publishing));
    if (this.connection) {
      await this.deleteAcknowledged(this.connection).catch((error: unknown) => {
        this.options.log.warn(
          { err: error },
          'published rows stay in the outbox and will be published again',
        );
      });
    }
    this.disconnect();
  }

  private async round(): Promise<boolean> {
    this.roundAtMs = performance.now();
    try {
      const connection = await this.connect();
      await this.deleteAcknowledged(connection);
      this.throwFailure();
      if (!(await this.lead(connection))) return false;
      await this.measure(connection);
      return await this.publishNext(connection);
    } catch (error) {
      if (error !== this.failure) this.disconnect();
      this.failure = undefined;
      throw error;
    }
  }

  /** A failed publication makes the loop back off; its rows are read again afterwards. */
  private throwFailure(): void {
    if (this.failure !== undefined) throw this.failure as Error;
  }

  private async connect(): Promise<PoolClient> {
    if (this.connection) return this.connection;
    const connection = await this.options.pool.connect();
    connection.on('error', () => {
      if (this.connection === connection) this.disconnect();
    });
    connection.on('notification', () => this.wake());
    this.connection = connection;
    // If a power cut loses a deletion, the row is published twice, so it need not wait for the disk. The remaining rows are
    // few among many deleted ones, so an index scan is faster.
    await connection.query('SET synchronous_commit = off; SET enable_seqscan = off');
    return connection;
  }

  /** Closes the connection instead of returning it to the pool, which also ends the lock and LISTEN. */
  private disconnect(): void {
    const { connection } = this;
    this.connection = undefined;
    this.leads = false;
    this.metrics.outboxRows.remove({ producer: this.options.producer });
    this.metrics.outboxOldestSeconds.remove({ producer: this.options.producer });
    connection?.release(true);
  }

  /** A relay that does not lead wakes the one that does, outside any business transaction. */
  private async lead(connection: PoolClient): Promise<boolean> {
    if (this.leads) return true;
    const { rows } = await connection.query<{ leads: boolean }>(
      'SELECT pg_try_advisory_lock($1, $2) AS leads',
      [LOCK_SPACE, LOCK_OF[this.options.producer]],
    );
    this.leads = rows[0]?.leads ?? false;
    if (this.leads) await connection.query(`LISTEN ${this.channel}`);
    else
      await connection.query(
        `SELECT pg_notify($1, '') WHERE EXISTS (SELECT FROM outbox WHERE producer = $2)`,
        [this.channel, this.options.producer],
      );
    return this.leads;
  }

  private async deleteAcknowledged(connection: PoolClient): Promise<void> {
    if (this.acknowledged.size === 0) return;
    const ids = [...this.acknowledged];
    await connection.query('DELETE FROM outbox WHERE id = ANY($1::bigint[])', [ids]);
    for (const id of ids) {
      this.acknowledged.delete(id);
      this.inFlight.delete(id);
    }
    this.metrics.outboxPublished.inc({ producer: this.options.producer }, ids.length);
  }

  /** Returns whether more rows may be waiting. */
  private async publishNext(connection: PoolClient): Promise<boolean> {
    if (this.inFlight.size >= MAX_IN_FLIGHT) return false;
    const { rows } = await connection.query<StoredRow>({
      name: 'outbox-next',
      text: `SELECT id::text AS id, topic, key, (payload - 'traceparent')::text AS payload,
          payload->>'traceparent' AS traceparent FROM outbox
        WHERE producer = $1 AND topic = ANY($2) AND id <> ALL($3::bigint[])
        ORDER BY outbox.id LIMIT ${MAX_ROWS_PER_ROUND}`,
      values: [this.options.producer, this.topicNames, [...this.inFlight.keys()]],
    });
    // A key with rows in progress waits: if one fails, a later row must not overtake it.
    const busy = new Set(this.inFlight.values());
    const ready = rows.filter((row) => !busy.has(streamOf(row)));
    for (const row of ready) this.publish(row);
    return rows.length === MAX_ROWS_PER_ROUND && ready.length > 0;
  }

  private publish(row: StoredRow): void {
    this.inFlight.set(row.id, streamOf(row));
    const { producer, bus } = this.options;
    const facts = { 'messaging.destination.name': row.topic, 'tollgate.producer': producer };
    const plan = { kind: 'producer', parent: row.traceparent, facts } as const;
    const done = traced('outbox', plan, () => bus.publishText(row.topic, row.key, row.payload))
      .then(() => void this.acknowledged.add(row.id))
      .catch((error: unknown) => this.afterFailure(row, error))
      .finally(() => {
        this.publishing.delete(done);
        this.wake();
      });
    this.publishing.add(done);
  }

  private afterFailure(row: { id: string; topic: string }, error: unknown): void {
    // A row that can never be published stays, and shows in the age of the oldest row. It must not block other rows.
    if (error instanceof InvalidMessage) {
      this.options.log.error({ err: error, outboxId: row.id, topic: row.topic }, 'a row cannot be published');
      return;
    }
    this.inFlight.delete(row.id);
    this.failure = error;
  }

  private async measure(connection: PoolClient): Promise<void> {
    if (performance.now() - this.measuredAtMs < MEASURE_INTERVAL_MS) return;
    this.measuredAtMs = performance.now();
    const { producer } = this.options;
    const { rows } = await connection.query<{ count: string; age: string }>(
      `SELECT count(*)::text AS count, coalesce(extract(epoch FROM now() - min(created_at)), 0)::text AS age
       FROM outbox WHERE producer = $1`,
      [producer],
    );
    this.metrics.outboxRows.set({ producer }, Number(rows[0]?.count ?? 0));
    this.metrics.outboxOldestSeconds.set({ producer }, Number(rows[0]?.age ?? 0));
  }
}

function streamOf({ topic, key }: { topic: string; key: string }): string {
  return `${topic} ${key}`;
}
