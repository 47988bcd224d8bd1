import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import { ApprovalService } from '#approvals/approval.service.js';
import type { Actor } from '#identity/role.js';
import { newId } from '#platform/ids.js';
import { openEntities } from '../../../test/support/entities.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { staffActor } from '../../../test/support/staff.js';
import { waiveAll } from '../../../test/support/waivers.js';
import { closePeriod } from './period-close.js';
import { WaiverService } from './waiver.service.js';

const ITEM = 'control:costs:left';

let ledger: LedgerFixture;
let source: DataSource;
let approvals: ApprovalService;
let service: WaiverService;
let asker: Actor;
let other: Actor;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  source = await openEntities(ledger);
  approvals = new ApprovalService(source);
  service = new WaiverService({ source, approvals, pool: ledger.billing, limitMs: 60_000 });
  [asker, other] = [await staffActor(ledger, 'finance'), await staffActor(ledger, 'finance')];
  await unknownCost('one', 'imgmodel-4');
});
afterAll(async () => {
  await source.destroy();
  await ledger.close();
});

function unknownCost(chargeId: string, model: string): Promise<unknown> {
  return ledger.owner.query(
    `INSERT INTO unknown_costs (charge_id, channel_id, model_id, metered, ended_at)
     VALUES ($1, 'sandbox', $2, false, now() - interval '1 day')`,
    [chargeId, model],
  );
}

function ask(of: { end?: Date; item?: string; count?: number } = {}) {
  const wanted = { end: new Date(), item: ITEM, count: 1, reason: 'they never answered', ...of };
  return service.ask(wanted, { actor: asker, requestId: newId() });
}

const approve = (approvalId: string, actor: Actor) =>
  approvals.approve({ approvalId, actor, note: null, requestId: newId() });

describe('a waiver', () => {
  it('applies once another person has agreed, and not before', async () => {
    const end = new Date();
    const { id } = await ask({ end });
    await expect(approve(id, asker)).rejects.toMatchObject({ code: 'second_person_required' });
    expect(await service.list(end)).toEqual([]);
    await approve(id, other);
    expect(await service.list(end)).toMatchObject([
      {
        item: ITEM,
        count: 1,
        reason: 'they never answered',
        requestedBy: `user:${asker.userId}`,
        approvedBy: `user:${other.userId}`,
      },
    ]);
    expect(await service.list(new Date(end.getTime() + 1))).toEqual([]);
  });

  it('is for an item that can be waived, and the message names those', async () => {
    await expect(ask({ item: 'control:costs' })).rejects.toMatchObject({
      code: 'invalid_value',
      param: 'item',
      message: expect.stringContaining(ITEM),
    });
  });

  it('covers what the person has seen, and is refused if there is more now', async () => {
    await unknownCost('two', 'imgmodel-lite');
    await expect(ask({ count: 1 })).rejects.toMatchObject({ code: 'conflict', param: 'count' });
    expect(await ask({ count: 2 })).toMatchObject({ state: 'pending' });
  });

  it('changes no closed books, even if the close came between its two people', async () => {
    const end = new Date();
    const { id } = await ask({ end, count: 2 });
    await waiveAll(ledger.billing, end);
    const closed = await closePeriod(
      ledger.billing,
      { end, note: null, actor: 'cli', requestId: newId() },
      { marginMs: 0, waitMs: 60_000, limitMs: 60_000 },
    );
    expect(closed.state).toBe('closed');
    await expect(approve(id, other)).rejects.toMatchObject({ code: 'conflict' });
    await expect(ask({ end, count: 2 })).rejects.toMatchObject({ code: 'conflict' });
    expect((await service.list(end)).filter(({ reason }) => reason === 'they never answered')).toEqual([]);
  });
});
