import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { actionsOn } from '../../../test/support/audit.js';
import { until } from '../../../test/support/eventually.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { waiveAll } from '../../../test/support/waivers.js';
import type { CloseRequest } from './close-attempt.js';
import { findPeriodOfRequest } from './period.js';
import { PeriodService } from './period.service.js';
import type { PeriodsConfig } from './periods.config.js';

let ledger: LedgerFixture;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  await ledger.account({ credits: '10' });
});
afterAll(() => ledger.close());

function serviceWith(changed: Partial<PeriodsConfig> = {}): PeriodService {
  return new PeriodService({
    pool: ledger.billing,
    log: ledger.log,
    config: { marginMs: 0, waitMs: 60_000, answerMs: 60_000, ...changed },
    reconcile: { limitMs: 60_000 },
  });
}

/** Waives everything that can be waived. */
async function request(changed: Partial<CloseRequest> = {}): Promise<CloseRequest> {
  const asked = { end: new Date(), note: null, actor: 'user:closer', requestId: newId(), ...changed };
  await waiveAll(ledger.billing, asked.end);
  return asked;
}

describe('a close', () => {
  it('returns the closed period, and is logged once however often it is requested', async () => {
    const service = serviceWith();
    const asked = await request();
    const period = await service.close(asked, 'audit-1');
    expect(period).toMatchObject({ state: 'closed', closedBy: 'user:closer', abandonedReason: null });
    expect(await service.close(asked, 'audit-2')).toEqual(period);
    expect(await actionsOn(ledger, `period:${period.id}`)).toEqual(['period.closed']);
    expect(await service.find(period.id)).toEqual(period);
  });

  it('names the wrong field if it cannot begin', async () => {
    const asked = await request();
    await expect(serviceWith({ marginMs: 3_600_000 }).close(asked, 'a')).rejects.toMatchObject({
      code: 'invalid_value',
      param: 'end',
      message: expect.stringMatching(/^end: /),
    });
    await serviceWith().close(asked, 'a');
    await expect(serviceWith().close({ ...asked, requestId: newId() }, 'a')).rejects.toMatchObject({
      code: 'conflict',
      param: 'end',
    });
    const later = new Date(asked.end.getTime() + 1);
    await expect(serviceWith().close({ ...asked, end: later }, 'a')).rejects.toMatchObject({
      code: 'conflict',
      param: 'requestId',
    });
  });

  it('returns its current state if it takes longer, and continues', async () => {
    // Long enough for its row to be there. Until then, there is nothing to answer.
    const service = serviceWith({ answerMs: 8_000 });
    const other = await ledger.owner.connect();
    try {
      await other.query('BEGIN');
      await other.query('LOCK TABLE ledger_period_balances IN SHARE MODE');
      const period = await service.close(await request(), 'a');
      expect(period).toMatchObject({ state: 'closing', endedAt: null });
      await other.query('COMMIT');
      await until('the close to end', async () => (await service.find(period.id))?.state === 'closed');
      await service.stop();
      expect(await actionsOn(ledger, `period:${period.id}`)).toEqual(['period.closed']);
    } finally {
      other.release(true);
    }
  });

  it('is abandoned at once when the program stops, although an earlier transaction still runs', async () => {
    const service = serviceWith();
    const older = await ledger.owner.connect();
    try {
      await older.query('BEGIN');
      await older.query('SELECT pg_current_xact_id()');
      const marked = await marks();
      const asked = await request();
      const answer = service.close(asked, 'a');
      await until('the close to wait', async () => (await marks()) > marked);
      await Promise.all([service.stop(), expect(answer).rejects.toThrow()]);
      expect(await findPeriodOfRequest(ledger.billing, asked)).toBeNull();
    } finally {
      older.release(true);
    }
    expect(await serviceWith().close(await request(), 'a')).toMatchObject({ state: 'closed' });
  });
});

/** Number of times that a close or a report began to wait for earlier transactions. */
async function marks(): Promise<bigint> {
  const { rows } = await ledger.owner.query<{ newest: string }>(
    'SELECT coalesce(max(xid::text::bigint), 0)::text AS newest FROM ledger_horizons',
  );
  return BigInt(rows[0]!.newest);
}
