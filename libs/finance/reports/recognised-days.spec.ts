import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { markHorizon } from '#ledger/postings/horizon.js';
import { recognisePresent } from '#ledger/lots/recognition.fixture.js';
import {
  type EngineFixture,
  type LedgerPerson,
  openEngine,
  spend,
} from '../../../test/support/ledger-person.js';
import { sumUpRecognised } from './recognised-days.js';
import { readRevenueChart } from './revenue-chart.js';

const DAY_MS = 86_400_000;
const BEGUN_MS = Date.now();
const dayOf = (days: number) => new Date(BEGUN_MS + days * DAY_MS).toISOString().slice(0, 10);

let under: EngineFixture;
let someone: LedgerPerson;

beforeAll(async () => {
  under = await openEngine();
  someone = await under.ledger.account({ credits: '100' });
});
// The ledger is not checked at the end, because its postings were moved.
afterAll(async () => {
  await under.engine.close();
  await under.ledger.close();
});

/** Spends, recognises it, and moves the posting to the start of a day. No program may do that, so the guards are off. */
async function recognise(images: bigint, on: { counts: string; recorded: string }): Promise<void> {
  const { engine, ledger } = under;
  await spend(engine, someone, images);
  await recognisePresent(ledger.billing);
  const client = await ledger.owner.connect();
  try {
    await client.query('BEGIN; SET LOCAL session_replication_role = replica');
    await client.query(
      `UPDATE ledger_transactions SET effective_at = $1, recorded_at = $2
       WHERE id = (SELECT max(id) FROM ledger_transactions WHERE kind = 'recognition')`,
      [`${on.counts}T00:00:00Z`, `${on.recorded}T00:00:00Z`],
    );
    await client.query('COMMIT');
  } finally {
    client.release();
  }
}

async function recognisedByDay(): Promise<[string, bigint][]> {
  const chart = await readRevenueChart(under.ledger.billing, {
    from: dayOf(-6),
    to: dayOf(1),
    by: 'family',
    filter: {},
  });
  return chart.points.flatMap(({ day, subjects }) =>
    subjects.flatMap(({ recognisedMinor }): [string, bigint][] =>
      recognisedMinor ? [[day, recognisedMinor]] : [],
    ),
  );
}

describe('recognised money by day', () => {
  it('is the same when past days are summed up, including late records', async () => {
    const { billing, owner } = under.ledger;
    await recognise(10n, { counts: dayOf(-4), recorded: dayOf(-4) });
    await recognise(20n, { counts: dayOf(-4), recorded: dayOf(-3) });
    await recognise(40n, { counts: dayOf(-1), recorded: dayOf(-1) });
    await recognise(50n, { counts: dayOf(0), recorded: dayOf(0) });
    await owner.query('UPDATE recognised_progress SET through = $1', [dayOf(-5)]);
    await markHorizon(billing, 25_000);
    const live = await recognisedByDay();
    expect(live.map(([day]) => day)).toEqual([dayOf(-4), dayOf(-1), dayOf(0)]);
    expect(live[0]![1] + live[1]![1]).toBe(273n);
    expect(await sumUpRecognised(billing)).toBe(true);
    expect(await recognisedByDay()).toEqual(live);
    const both = await Promise.all([sumUpRecognised(billing), sumUpRecognised(billing)]);
    expect(both).toEqual([true, true]);
    while (await sumUpRecognised(billing));
    expect(await recognisedByDay()).toEqual(live);
    const { rows } = await owner.query(
      `SELECT (SELECT through >= $1 FROM recognised_progress) AS reached,
         (SELECT count(*)::int FROM recognised_days WHERE recorded_on < $1) AS stored`,
      [dayOf(0)],
    );
    expect(rows).toEqual([{ reached: true, stored: 3 }]);
  });
});
