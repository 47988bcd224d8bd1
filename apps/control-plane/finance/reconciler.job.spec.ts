import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OutboxRelay } from '#bus/outbox.js';
import { inTransaction } from '#database/database.js';
import { Registry } from '#platform/metrics.js';
import { until } from '../../../test/support/eventually.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { Reconciler } from './reconciler.job.js';

const CONFIG = {
  intervalMs: 3_600_000,
  graceMs: 0,
  reportOverdueMs: 3_600_000,
  limitMs: 60_000,
  keepMs: 3_600_000,
};

const LAST_LOOK = 'tollgate_control_last_look_timestamp_seconds';

let ledger: LedgerFixture;
let registry: Registry;
let reconciler: Reconciler;
let woken: number;

beforeAll(async () => {
  ledger = await createLedgerFixture();
});
afterAll(() => ledger.close());
beforeEach(async () => {
  woken = 0;
  ({ reconciler, registry } = newReconciler());
});
afterEach(async () => {
  await reconciler.stop();
  await ledger.owner.query('TRUNCATE control_runs, control_findings, outbox CASCADE');
});

function newReconciler(): { reconciler: Reconciler; registry: Registry } {
  const own = new Registry();
  const relay = { wake: () => (woken += 1) } as unknown as OutboxRelay;
  const { billing: pool, log } = ledger;
  return { registry: own, reconciler: new Reconciler({ pool, log, relay, registry: own, config: CONFIG }) };
}

async function metric(name: string, control: string, of = registry): Promise<number | undefined> {
  const { values } = await of.getSingleMetric(name)!.get();
  return values.find(({ labels }) => labels['control'] === control)?.value;
}

const findings = (of?: Registry) => metric('tollgate_control_findings', 'costs', of);

async function runs(): Promise<string[]> {
  const { rows } = await ledger.owner.query<{ by: string }>(
    'SELECT asked_by AS by FROM control_runs ORDER BY id',
  );
  return rows.map(({ by }) => by);
}

describe('a run on request', () => {
  it('runs only those controls, shows their counts, and wakes the job that announces them', async () => {
    await ledger.owner.query(
      `INSERT INTO unknown_costs (charge_id, channel_id, model_id, metered, ended_at)
       VALUES ('one', 'sandbox', 'imgmodel-4', false, now() - interval '1 day')`,
    );
    const run = await reconciler.runNow(['costs'], 'user:x');
    expect(run?.outcomes.map(({ control }) => control.id)).toEqual(['costs']);
    expect(await runs()).toEqual(['user:x']);
    expect(await findings()).toBeGreaterThan(0);
    expect(woken).toBe(1);
    await ledger.owner.query('DELETE FROM unknown_costs');
    await reconciler.runNow(['costs'], 'user:x');
    expect(await findings()).toBe(0);
  });

  it('leaves out what runs once a day, unless it is named', async () => {
    const asked = await reconciler.runNow(null, 'user:x');
    const ids = asked!.outcomes.map(({ control }) => control.id);
    expect(ids).toContain('suspense');
    expect(asked!.outcomes.filter(({ control }) => control.every === 'day')).toEqual([]);
    expect(asked!.outcomes.filter(({ error }) => error !== null)).toEqual([]);
  });

  it('is refused while another one is in progress', async () => {
    const both = await Promise.all([1, 2].map(() => newReconciler().reconciler.runNow(['costs'], 'user:x')));
    const stored = await runs();
    expect(both.filter((run) => run !== null)).toHaveLength(stored.length);
    expect(stored.length).toBeGreaterThan(0);
  });
});

describe('the schedule', () => {
  it('is shared by all processes, each of which shows the same', async () => {
    const other = newReconciler();
    const shows = (of: Registry) => async () => (await findings(of)) !== undefined;
    try {
      reconciler.start();
      await until('the first to show what it found', shows(registry));
      other.reconciler.start();
      await until('the other to show it too', shows(other.registry));
    } finally {
      await other.reconciler.stop();
    }
    expect(await runs()).toEqual(['system']);
  });

  it('shows earlier findings while its first run takes long', async () => {
    await reconciler.runNow(['costs'], 'user:x');
    const restarted = newReconciler();
    try {
      await inTransaction(ledger.owner, async (client) => {
        await client.query('LOCK TABLE unknown_costs');
        restarted.reconciler.start();
        await until('its findings', async () => (await findings(restarted.registry)) !== undefined);
        expect(await metric(LAST_LOOK, 'costs', restarted.registry)).toBeGreaterThan(0);
        expect(await runs()).toEqual(['user:x']);
      });
    } finally {
      await restarted.reconciler.stop();
    }
  });
});
