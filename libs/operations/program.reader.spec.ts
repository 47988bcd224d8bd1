import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { configureSandboxChannel } from '#catalog/catalog.seed.js';
import { newId } from '#platform/ids.js';
import { TasksUnderTest } from '#tasks/tasks.fixture.js';
import { openPool } from '#database/database.js';
import type pg from 'pg';
import { ProgramReader } from './program.reader.js';

const REPORT_MS = 10_000;

let tasks: TasksUnderTest;
let pool: pg.Pool;
let reader: ProgramReader;

beforeAll(async () => {
  tasks = await TasksUnderTest.start();
  await configureSandboxChannel(tasks.owner, { baseUrl: 'http://127.0.0.1:9', apiKey: 'sandbox-key' });
  pool = openPool({ url: tasks.database.urlFor('billing'), max: 2, applicationName: 'test' });
  reader = new ProgramReader(pool, { reportMs: REPORT_MS });
});
afterAll(async () => {
  await pool.end();
  await tasks.close();
});
beforeEach(() => tasks.owner.query('TRUNCATE program_reports, dead_letters, tasks CASCADE'));

const VITALS = {
  channelId: 'sandbox',
  model: 'imgmodel-4',
  state: 'open',
  inFlight: 2,
  failures: 3,
  openedAtMs: Date.parse('2026-01-02T03:04:05Z'),
  lastFailure: { atMs: Date.parse('2026-01-02T03:04:00Z'), reason: 'timeout', status: null },
  p50Ms: 10,
  p99Ms: null,
};

async function reported(
  program: string,
  { instance = newId(), ageMs = 0, report = {} }: { instance?: string; ageMs?: number; report?: object } = {},
): Promise<void> {
  await tasks.owner.query(
    `INSERT INTO program_reports (program, instance, version, host, started_at, reported_at, report)
     VALUES ($1, $2, '1.0.0', 'here', now() - interval '1 day', now() - $3::float8 * interval '1 millisecond', $4)`,
    [program, instance, ageMs, report],
  );
}

describe('programs', () => {
  it('are silent once several of their reports are overdue', async () => {
    await reported('billing', { instance: 'late', ageMs: 3 * REPORT_MS });
    await reported('gateway', { instance: 'gone', ageMs: 5 * REPORT_MS });
    const { items } = await reader.programs();
    expect(items.map(({ instance, isSilent }) => [instance, isSilent])).toEqual([
      ['late', false],
      ['gone', true],
    ]);
    const running = await Promise.all([reader.isRunning('billing'), reader.isRunning('gateway')]);
    expect(running).toEqual([true, false]);
  });

  it('are shown with their report, without its part on channels, and with times as text', async () => {
    await reported('gateway', { report: { memoryBytes: 7, channels: [VITALS] } });
    const { items } = await reader.programs();
    expect(items[0]).toMatchObject({ program: 'gateway', version: '1.0.0', report: { memoryBytes: 7 } });
    expect(items[0]!.report).not.toHaveProperty('channels');
    expect(new Date(items[0]!.reportedAt).toISOString()).toBe(items[0]!.reportedAt);
  });

  it('come with what waits for people and what runs', async () => {
    const { id } = await tasks.submitted(newId());
    await tasks.submitting();
    await tasks.created();
    await tasks.owner.query(`UPDATE tasks SET state = 'failed', ended_at = now() WHERE id = $1`, [id]);
    await tasks.owner.query(
      `INSERT INTO dead_letters (topic, partition, "offset", reason, replayed_at, replayed_by)
       VALUES ('t', 0, '1', 'r', NULL, NULL), ('t', 0, '2', 'r', now(), 'user:x')`,
    );
    expect(await reader.programs()).toMatchObject({ items: [], deadLetters: 1, runningTasks: 2 });
  });
});

describe('channels', () => {
  it('are shown as seen by the programs that still report', async () => {
    await reported('gateway', { instance: 'here', report: { channels: [VITALS] } });
    await reported('gateway', { instance: 'gone', ageMs: 5 * REPORT_MS, report: { channels: [VITALS] } });
    await reported('billing', { report: {} });
    await tasks.submitted(newId());
    const [sandbox] = await reader.channels('sandbox');
    expect(sandbox).toMatchObject({ channelId: 'sandbox', runningTasks: 1 });
    expect(sandbox!.programs).toEqual([
      {
        program: 'gateway',
        instance: 'here',
        reportedAt: expect.any(String),
        model: 'imgmodel-4',
        state: 'open',
        inFlight: 2,
        failures: 3,
        openedAt: '2026-01-02T03:04:05.000Z',
        lastFailure: { at: '2026-01-02T03:04:00.000Z', kind: null, reason: 'timeout', status: null },
        p50Ms: 10,
        p99Ms: null,
        latencyMs: null,
      },
    ]);
    expect(await reader.channels('no such channel')).toEqual([]);
    expect(await reader.channels(null)).toContainEqual(sandbox);
  });
});
