import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import { closeClean, type Relay, startRelay } from '../support/relay.js';

let relay: Relay;
let only: Person;

beforeAll(async () => {
  relay = await startRelay({ ONE_PERSON: 'true', MANUAL_TOPUP_LIMIT: '10', PERIOD_MARGIN_SECONDS: '0' });
  only = await person(relay, { roles: ['support', 'finance', 'admin'] });
});
afterAll(() => closeClean(relay));

const marks = async (why: string) => {
  const { rows } = await relay.fixture.owner.query<{ subject: string }>(
    'SELECT subject FROM done_alone WHERE why = $1 AND actor = $2 ORDER BY id',
    [why, `user:${only.userId}`],
  );
  return rows.map(({ subject }) => subject);
};

describe('an installation that is declared to be run by one person', () => {
  it('says so in the audit log and to its staff only', async () => {
    const { rows } = await relay.fixture.owner.query(
      `SELECT after FROM audit_log WHERE action = 'installation.declared' AND subject = 'installation:one-person'`,
    );
    expect(rows).toEqual([{ after: { holds: true } }]);
    expect((await only.api.GET('/api/public/session')).data?.onePerson).toBe(true);
    const customer = await person(relay);
    expect((await customer.api.GET('/api/public/session')).data?.onePerson).toBe(false);
  });

  it('lets one person confirm their own requests, beyond the limit and for themselves, and marks it', async () => {
    const { data } = await only.api.POST('/api/finance/topups', {
      body: {
        accountId: only.accountId,
        paymentId: newId(),
        paid: '26',
        currency: 'USD',
        reason: 'mine',
        requestId: newId(),
      },
    });
    const approvalId = data!.approvalId!;
    const params = { path: { approvalId } };
    const decided = await only.api.POST('/api/approvals/{approvalId}/approve', { params, body: {} });
    expect(decided.data).toMatchObject({ state: 'approved', self: true, outcome: { credits: '20' } });
    expect(await marks('second-person')).toContain(`approval:${approvalId}`);
    expect(await marks('own-interest')).toContain(`account:${only.accountId}`);
  });

  it('lets one person confirm large price changes, and marks them', async () => {
    const proposed = await only.api.POST('/api/admin/price-proposals', {
      body: { changes: [{ kind: 'multiplier', group: 'Public-Relay', multiplier: '0' }] },
    });
    const { id, revision } = proposed.data!;
    const confirmed = await only.api.POST('/api/admin/price-proposals/{proposalId}/confirm', {
      params: { path: { proposalId: id } },
      body: { revision },
    });
    expect(confirmed.data).toMatchObject({ state: 'confirmed', confirmedAlone: true });
    expect(await marks('second-person')).toContain(`price-proposal:${id}`);
  });

  it('says so in the checklist of every close', async () => {
    const { data } = await only.api.POST('/api/finance/periods/check', {
      body: { end: new Date().toISOString() },
    });
    const item = data!.checklist.find((each) => each.id === 'done-alone');
    expect(item).toMatchObject({ state: 'ok' });
    expect(item!.message).toMatch(/no second person\. One person decided \d+ times what needs two/);
  });
});
