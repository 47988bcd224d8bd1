import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import type { Control, ControlItem, ControlResult } from './control.js';
import { runControls } from './control-run.js';
import { acknowledgeFinding, listFindings, readFindingDays, readStandings } from './findings.js';
import { reconcile, reconcileDue } from './reconciler.js';

let ledger: LedgerFixture;

beforeAll(async () => {
  ledger = await createLedgerFixture();
});
afterAll(() => ledger?.close());
afterEach(() =>
  ledger.owner.query('TRUNCATE control_runs, control_findings, outbox CASCADE').then(() => undefined),
);

const OPTIONS = { graceMs: 0, limitMs: 60_000, keepMs: 3_600_000, askedBy: 'system' };

function control(id: string, check: Control['check'], every: 'round' | 'day' = 'round'): Control {
  return { id, title: id, explanation: id, states: ['differs'], every, check };
}

function item(subject: string, more: Partial<ControlItem> = {}): ControlItem {
  return {
    subject,
    state: 'differs',
    message: `${subject} differs.`,
    details: {},
    transactionIds: [],
    ...more,
  };
}

/** A control with findings as set by the test. */
function finding(id: string, ...subjects: string[]): Control {
  return control(id, async () => resultOf(subjects));
}

function resultOf(subjects: readonly string[]): ControlResult {
  return { count: subjects.length, items: subjects.map((subject) => item(subject)) };
}

async function run(...controls: Control[]) {
  const done = await reconcile(ledger.billing, controls, OPTIONS);
  if (!done) throw new Error('another run is in progress');
  return done;
}

async function findings(state: 'open' | 'resolved' | 'all' = 'all') {
  const found = await listFindings(ledger.billing, { control: null, state, limit: 100, after: null });
  return found.map(({ control: of, subject }) => `${of} ${subject}`).sort();
}

async function announced() {
  const { rows } = await ledger.owner.query<{ payload: { control: string } }>(
    `SELECT payload FROM outbox WHERE topic = 'control.failed' ORDER BY id`,
  );
  await ledger.owner.query('TRUNCATE outbox');
  return rows.map(({ payload }) => payload);
}

describe('a run', () => {
  it('continues after a control that fails or takes too long', async () => {
    const outcomes = [
      control('broken', (client) => client.query('SELECT FROM nowhere').then(() => resultOf([]))),
      control('thrown', () => Promise.reject(new Error('it was not there'))),
      control('slow', async (client) => {
        const { rows } = await client.query<{ limit: string }>(
          `SELECT current_setting('statement_timeout') AS limit`,
        );
        expect(rows[0]?.limit).toBe('1min');
        // As if the limit were over.
        await client.query('SET LOCAL statement_timeout = 1');
        return client.query('SELECT pg_advisory_lock(1)').then(() => resultOf([]));
      }),
      finding('late', 'x:1'),
    ];
    const holder = await ledger.owner.connect();
    await holder.query('SELECT pg_advisory_lock(1)');
    const done = await runControls(ledger.billing, { controls: outcomes, graceMs: 0, limitMs: 60_000 });
    holder.release(true);
    expect(done.outcomes.map(({ error, result }) => error ?? result?.count)).toEqual([
      'relation "nowhere" does not exist',
      'it was not there',
      'took longer than 60 s',
      1,
    ]);
  });

  it('sees one snapshot, and changes nothing', async () => {
    const { accountId } = await ledger.account({ credits: '1' });
    const held = (client: Parameters<Control['check']>[0]) =>
      client.query<{ low: bigint }>(
        'SELECT low_balance_threshold AS low FROM customer_balances WHERE account_id = $1',
        [accountId],
      );
    const first = control('first', async (client) => {
      expect((await held(client)).rows[0]?.low).toBeNull();
      await ledger.owner.query(
        'UPDATE customer_balances SET low_balance_threshold = 7 WHERE account_id = $1',
        [accountId],
      );
      return resultOf([]);
    });
    const second = control('second', async (client) => {
      expect((await held(client)).rows[0]?.low).toBeNull();
      return resultOf([]);
    });
    const writer = control('writer', async (client) => {
      await client.query('DELETE FROM control_runs');
      return resultOf([]);
    });
    const { outcomes } = await run(first, second, writer);
    expect(outcomes.map(({ error }) => error)).toEqual([
      null,
      null,
      'cannot execute DELETE in a read-only transaction',
    ]);
  });

  it('is one at a time, in however many processes', async () => {
    let letGo = (): void => undefined;
    const waiting = new Promise<void>((resolve) => (letGo = resolve));
    let begun = (): void => undefined;
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const first = run(
      control('long', async () => {
        begun();
        await waiting;
        return resultOf(['x:1']);
      }),
    );
    await hasBegun;
    expect(await reconcile(ledger.billing, [finding('other')], OPTIONS)).toBeNull();
    expect(await reconcileDue(ledger.billing, [finding('other')], { ...OPTIONS, intervalMs: 0 })).toBeNull();
    letGo();
    await first;
    expect(await reconcile(ledger.billing, [finding('other')], OPTIONS)).not.toBeNull();
    expect(await findings('open')).toEqual(['long x:1']);
  });

  it('names a subject once, with everything found about it', async () => {
    const twice = control('twice', async () => ({
      count: 2,
      items: [
        item('x:1', { transactionIds: [1n], message: 'First.' }),
        item('x:1', { transactionIds: [1n, 2n], message: 'Second.' }),
      ],
    }));
    await run(twice);
    await run(twice);
    const [found, ...others] = await listFindings(ledger.billing, {
      control: 'twice',
      state: 'open',
      limit: 9,
      after: null,
    });
    expect(found).toMatchObject({ subject: 'x:1', message: 'First. Second.', transactionIds: [1n, 2n] });
    expect(others).toEqual([]);
  });
});

describe('the schedule', () => {
  const schedule = (intervalMs: number, ...controls: Control[]) =>
    reconcileDue(ledger.billing, controls, { ...OPTIONS, intervalMs });

  it('runs no more often than its interval, no matter who runs it', async () => {
    expect(await schedule(3_600_000, finding('a'))).not.toBeNull();
    expect(await schedule(3_600_000, finding('a'))).toBeNull();
    await ledger.owner.query(`UPDATE control_runs SET started_at = started_at - interval '1 hour',
      finished_at = started_at - interval '1 hour' + interval '1 second'`);
    expect(await schedule(3_600_000, finding('a'))).not.toBeNull();
  });

  it('rests after a long run, depending on the time of its controls', async () => {
    await schedule(1, finding('a'));
    const took = async (minutes: number, agoMinutes: number) => {
      await ledger.owner.query('UPDATE control_results SET duration_ms = $1', [minutes * 60_000]);
      await ledger.owner.query(
        `UPDATE control_runs SET started_at = now() - $1::int * interval '1 minute', finished_at = now()`,
        [agoMinutes],
      );
    };
    await took(10, 49);
    expect(await schedule(1, finding('a'))).toBeNull();
    await took(10, 51);
    expect(await schedule(1, finding('a'))).not.toBeNull();
  });

  it('continues at once if the clock was set back, however far', async () => {
    const daily = control('daily', async () => resultOf([]), 'day');
    await schedule(60_000, finding('a'), daily);
    await ledger.owner.query(
      `UPDATE control_runs SET started_at = now() + interval '30 days', finished_at = now() - interval '1 day'`,
    );
    const again = await schedule(60_000, finding('a'), daily);
    expect(again?.outcomes.map((each) => each.control.id)).toEqual(['a', 'daily']);
    expect(await schedule(60_000, finding('a'), daily)).toBeNull();
  });

  it('runs controls that read the whole ledger once a day, and again after they failed', async () => {
    let fails = true;
    const daily = control(
      'daily',
      () => (fails ? Promise.reject(new Error('no')) : Promise.resolve(resultOf([]))),
      'day',
    );
    const ran = async () => {
      await ledger.owner.query(`UPDATE control_runs SET finished_at = started_at, asked_by = 'somebody'`);
      return (await schedule(0, finding('a'), daily))?.outcomes.map((each) => each.control.id);
    };
    expect(await ran()).toEqual(['a', 'daily']);
    fails = false;
    expect(await ran()).toEqual(['a', 'daily']);
    expect(await ran()).toEqual(['a']);
    await ledger.owner.query(`UPDATE control_runs SET started_at = now() - interval '24 hours'`);
    expect(await ran()).toEqual(['a', 'daily']);
  });

  describe('of a control that can look at recent things alone', () => {
    const scopes: string[] = [];
    let current: ControlItem[] = [];
    const windowed: Control = {
      ...control('w', async (_, { scope, since }) => {
        scopes.push(scope ?? '');
        expect(since === null).toBe(scope === 'whole');
        const seen = current.filter(({ at }) => !since || (at && at >= since));
        return { count: seen.length, items: seen };
      }),
      window: true,
    };
    const old = item('x:old', { at: '2020-01-01T00:00:00Z' });
    const timeless = item('x:timeless');
    const recent = item('x:recent', { at: '2999-01-01T00:00:00Z' });
    const ran = async () => {
      await ledger.owner.query(`UPDATE control_runs SET finished_at = started_at`);
      // Nothing rests after work that took no time.
      await ledger.owner.query('UPDATE control_results SET duration_ms = 0');
      return (await schedule(0, windowed))?.outcomes.map(({ result }) => result?.count);
    };

    it('checks everything once a day, and whenever someone asks', async () => {
      current = [];
      scopes.length = 0;
      for (let round = 0; round < 3; round++) await ran();
      await run(windowed);
      await ran();
      await ledger.owner.query(`UPDATE control_runs SET started_at = started_at - interval '24 hours'`);
      await ran();
      await ran();
      expect(scopes).toEqual(['whole', 'recent', 'recent', 'whole', 'recent', 'whole', 'recent']);
    });

    it('checks everything if the clock was set back, and again after that failed', async () => {
      current = [];
      scopes.length = 0;
      await ran();
      await ledger.owner.query(`UPDATE control_runs SET started_at = now() + interval '1 hour'`);
      await ledger.owner.query(`UPDATE control_runs SET asked_by = 'somebody'`);
      await ran();
      await ledger.owner.query(`DELETE FROM control_runs`);
      await run({ ...windowed, check: () => Promise.reject(new Error('no')) });
      await ran();
      expect(scopes).toEqual(['whole', 'whole', 'whole']);
    });

    it('ends only what it checked, and counts the rest', async () => {
      current = [old, timeless, recent];
      expect(await ran()).toEqual([3]);
      expect(await ran()).toEqual([3]);
      current = [];
      expect(await ran()).toEqual([2]);
      expect(await findings('open')).toEqual(['w x:old', 'w x:timeless']);
      expect(await readStandings(ledger.billing, ['w'])).toMatchObject([{ state: 'red', count: 2n }]);
      await run(windowed);
      expect(await findings('open')).toEqual([]);
    });
  });

  it('forgets old runs, and keeps what they found', async () => {
    await run(finding('a', 'x:1'));
    await ledger.owner.query(`UPDATE control_runs SET started_at = now() - interval '2 hours'`);
    await run(finding('b'));
    const { rows } = await ledger.owner.query('SELECT DISTINCT control FROM control_results');
    expect(rows).toEqual([{ control: 'b' }]);
    expect(await findings('open')).toEqual(['a x:1']);
  });
});

describe('a finding', () => {
  it('continues while it is seen, ends when it is gone, and is a new one when it returns', async () => {
    await run(finding('a', 'x:1', 'x:2'), finding('b', 'x:1'));
    await run(finding('a', 'x:2'));
    expect(await findings('open')).toEqual(['a x:2', 'b x:1']);
    expect(await findings('resolved')).toEqual(['a x:1']);
    await run(finding('a', 'x:1', 'x:2'));
    expect(await findings('open')).toEqual(['a x:1', 'a x:2', 'b x:1']);
    expect(await findings('all')).toHaveLength(4);
  });

  it('is counted on each day that it was open', async () => {
    await run(finding('a', 'x:1', 'x:2', 'x:3'));
    const move = (subject: string, first: number, resolved: number | null) =>
      ledger.owner.query(
        `UPDATE control_findings SET first_seen_at = now() - $2 * interval '1 day',
           resolved_at = now() - $3::int * interval '1 day' WHERE subject = $1`,
        [subject, first, resolved],
      );
    await move('x:1', 2, null);
    await move('x:2', 9, 1);
    await move('x:3', 9, 8);
    const { days, findings: counted } = await readFindingDays(ledger.billing, 4);
    expect(days.at(-1)).toBe(new Date().toISOString().slice(0, 10));
    expect([...counted]).toEqual([['a', [1n, 2n, 2n, 1n]]]);
  });

  it('stays, and is counted, while its control skips it', async () => {
    await run(finding('a', 'x:1', 'x:2', 'x:3'));
    const passing = control('a', async () => ({ ...resultOf(['x:1']), passedOver: ['x:2'] }));
    expect((await run(passing)).outcomes[0]?.result?.count).toBe(2);
    expect(await findings('open')).toEqual(['a x:1', 'a x:2']);
    expect(await readStandings(ledger.billing, ['a'])).toMatchObject([{ state: 'red', count: 2n }]);
    await run(finding('a'));
    expect(await findings('open')).toEqual([]);
  });

  it('stays while its control fails, or names only some', async () => {
    await run(finding('a', 'x:1', 'x:2'));
    await run(control('a', () => Promise.reject(new Error('no'))));
    await run(control('a', async () => ({ count: 3, items: [item('x:2')] })));
    expect(await findings('open')).toEqual(['a x:1', 'a x:2']);
    await run(finding('a'));
    expect(await findings('open')).toEqual([]);
  });

  it('is announced when it is new, with its run; a failing control is announced once', async () => {
    await run(finding('a', 'x:1'), finding('b'));
    expect(await announced()).toEqual([
      expect.objectContaining({ control: 'a', state: 'red', count: 1, fresh: 1, subjects: ['x:1'] }),
    ]);
    await run(finding('a', 'x:1'), finding('b'));
    expect(await announced()).toEqual([]);
    await run(finding('a', 'x:1', 'x:2'));
    expect(await announced()).toEqual([expect.objectContaining({ count: 2, fresh: 1, subjects: ['x:2'] })]);
    const broken = control('a', () => Promise.reject(new Error('no')));
    await run(broken);
    await run(broken);
    expect(await announced()).toEqual([expect.objectContaining({ control: 'a', state: 'error', fresh: 0 })]);
  });

  it('can be acknowledged, which changes no count', async () => {
    const { accountId } = await ledger.account({ credits: '0' });
    const userId = newId();
    await ledger.owner.query(
      `INSERT INTO users (id, account_id, email, password_hash) VALUES ($1, $2, $1 || '@example.com', 'none')`,
      [userId, accountId],
    );
    await run(
      finding('a', 'x:1', 'x:2'),
      finding('b'),
      control('c', () => Promise.reject(new Error('no'))),
    );
    const [first] = await listFindings(ledger.billing, {
      control: 'a',
      state: 'open',
      limit: 1,
      after: null,
    });
    const acknowledge = (of: string, findingId: bigint) =>
      inTransaction(ledger.billing, (client) =>
        acknowledgeFinding(client, { control: of, findingId, userId, note: 'mine', requestId: 'r' }),
      );
    const acknowledged = await acknowledge('a', first!.id);
    expect(acknowledged).toMatchObject({ acknowledgedBy: `user:${userId}`, note: 'mine', resolvedAt: null });
    await expect(acknowledge('b', first!.id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await readStandings(ledger.billing, ['a', 'b', 'c', 'd'])).toMatchObject([
      { control: 'a', state: 'red', count: 2n, openFindings: 2n, unacknowledged: 1n },
      { control: 'b', state: 'green', count: 0n, openFindings: 0n },
      { control: 'c', state: 'error', count: null, error: 'no' },
      { control: 'd', state: 'never', count: null },
    ]);
    const { rows } = await ledger.owner.query(
      `SELECT actor, subject FROM audit_log WHERE action = 'finding.acknowledged'`,
    );
    expect(rows).toEqual([{ actor: `user:${userId}`, subject: `finding:a:${first!.id}` }]);
    await run(finding('a'));
    await expect(acknowledge('a', first!.id)).rejects.toMatchObject({ code: 'conflict' });
  });
});
