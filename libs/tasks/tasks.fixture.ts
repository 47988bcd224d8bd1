import type { Pool } from 'pg';
import { seedCatalog } from '#catalog/catalog.seed.js';
import { newId } from '#platform/ids.js';
import { nanos } from '#money/amount.js';
import { createTestDatabase, openPatientPool, type TestDatabase } from '../../test/support/database.js';
import { TaskQueue } from './task-queue.store.js';
import { type NewTask, TaskStore } from './task.store.js';

/** A database with two accounts and their keys, seen through the roles of the programs that write tasks. */
export class TasksUnderTest {
  readonly store: TaskStore;
  readonly queue: TaskQueue;

  private constructor(
    readonly database: TestDatabase,
    readonly owner: Pool,
    readonly gateway: Pool,
    readonly worker: Pool,
  ) {
    this.store = new TaskStore(gateway);
    this.queue = new TaskQueue(worker);
  }

  static async start(): Promise<TasksUnderTest> {
    const database = await createTestDatabase();
    const [owner, gateway, worker] = (['owner', 'gateway', 'worker'] as const).map((role) =>
      openPatientPool({ url: database.urlFor(role), max: 8, applicationName: `spec-${role}` }),
    ) as [Pool, Pool, Pool];
    await seedCatalog(owner);
    for (const account of ['alice', 'bob']) {
      await owner.query('INSERT INTO accounts (id, name) VALUES ($1, $1)', [account]);
      await owner.query(
        `INSERT INTO api_keys (id, account_id, name, key_hash, group_name)
         VALUES ($1, $2, 'key', sha256(convert_to($1, 'UTF8')), 'Vendora-Main')`,
        [`key-${account}`, account],
      );
    }
    return new TasksUnderTest(database, owner, gateway, worker);
  }

  async close(): Promise<void> {
    await Promise.all([this.owner.end(), this.gateway.end(), this.worker.end()]);
    await this.database.drop();
  }

  /** A task that is not saved yet. */
  draft(overrides: Partial<NewTask> = {}): NewTask {
    const accountId = overrides.accountId ?? 'alice';
    return {
      id: newId(),
      kind: 'video',
      accountId,
      keyId: `key-${accountId}`,
      group: 'Vendora-Main',
      limits: undefined,
      chargeId: newId(),
      dialect: 'openai',
      modelId: 'vendora-imagine-video',
      requestedModel: 'vendora-imagine-video',
      request: { prompt: 'a boat', aspectRatio: '16:9', resolution: '720p' },
      seconds: 5,
      deadlineMs: 3_600_000,
      ...overrides,
    };
  }

  /** Saves a task in the state `created`. */
  async created(overrides: Partial<NewTask> = {}): Promise<NewTask> {
    const task = this.draft(overrides);
    await this.store.insertCreated(task);
    return task;
  }

  async submitting(
    overrides: Partial<NewTask> & { channelId?: string; channelKey?: string } = {},
  ): Promise<NewTask> {
    const { channelId = 'sandbox', channelKey = 'mark', ...rest } = overrides;
    const task = await this.created(rest);
    const target = {
      channelId,
      channelKey,
      upstreamModel: task.modelId,
      heldAmount: nanos(250_000_000n),
      request: task.request,
    };
    if (!(await this.store.toSubmitting(task.id, target))) throw new Error('the task was not created');
    return task;
  }

  /** Saves a task that an upstream accepted, due at once. */
  async submitted(
    upstreamId: string,
    overrides: Parameters<TasksUnderTest['submitting']>[0] = {},
  ): Promise<NewTask> {
    const task = await this.submitting(overrides);
    await this.store.toSubmitted(task.id, { upstreamId, firstPollMs: 0 });
    return task;
  }

  /** The row as stored. */
  async row(id: string): Promise<Record<string, unknown>> {
    const { rows } = await this.owner.query<Record<string, unknown>>('SELECT * FROM tasks WHERE id = $1', [
      id,
    ]);
    if (!rows[0]) throw new Error(`no task ${id}`);
    return rows[0];
  }

  /** What was announced about a task. */
  async announced(
    taskId: string,
  ): Promise<{ producer: string; topic: string; key: string; payload: object }[]> {
    const { rows } = await this.owner.query<{
      producer: string;
      topic: string;
      key: string;
      payload: object;
    }>(`SELECT producer, topic, key, payload FROM outbox WHERE payload ->> 'taskId' = $1 ORDER BY id`, [
      taskId,
    ]);
    return rows;
  }
}
