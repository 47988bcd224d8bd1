import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatAmount, nanos } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import { paidCharge } from '../support/paid-charge.js';
import { expectCleanLedger, type Relay, startRelay } from '../support/relay.js';
import { onOneDay } from '../support/utc-day.js';

let relay: Relay;

beforeAll(async () => {
  relay = await startRelay({
    REFUND_LIMIT: '1',
    MANUAL_TOPUP_LIMIT: '100',
    ADJUSTMENT_LIMIT: '5',
    SANDBOX_PAYMENTS: 'false',
  });
});
afterAll(() => relay?.close());

async function openTicket(owner: Person): Promise<string> {
  const { data } = await owner.api.POST('/api/tickets', {
    body: { kind: 'refund', subject: 'Money back', body: 'The pictures are bad.' },
  });
  return data!.id;
}

function refund(by: Person, ticketId: string, chargeId: string, amount: string) {
  return by.api.POST('/api/support/tickets/{ticketId}/refunds', {
    params: { path: { ticketId } },
    body: { chargeId, amount, reason: 'The pictures were bad.', requestId: newId() },
  });
}

function transfer(by: Person, accountId: string, paid: string) {
  return by.api.POST('/api/finance/topups', {
    body: {
      accountId,
      paymentId: `bank-${newId()}`,
      paid,
      currency: 'USD',
      reason: 'seen on the account',
      requestId: newId(),
    },
  });
}

const grant = (by: Person, userId: string, roles: ('support' | 'finance' | 'admin')[]) =>
  by.api.PUT('/api/admin/people/{userId}/roles', { params: { path: { userId } }, body: { roles } });

const approve = (by: Person, approvalId: string | null | undefined) =>
  by.api.POST('/api/approvals/{approvalId}/approve', {
    params: { path: { approvalId: approvalId ?? '' } },
    body: {},
  });

async function mainOf({ accountId }: { accountId: string }): Promise<string> {
  const { rows } = await relay.fixture.billing.query<{ main: bigint }>(
    'SELECT main FROM customer_balances WHERE account_id = $1',
    [accountId],
  );
  return formatAmount(nanos(rows[0]!.main));
}

async function invites(inviter: Person, invitee: Person): Promise<void> {
  await relay.fixture.owner.query(
    'INSERT INTO invitations (invitee_account_id, inviter_account_id) VALUES ($1, $2)',
    [invitee.accountId, inviter.accountId],
  );
}

describe('one’s own account', () => {
  it('gets no refund from its owner', async () => {
    const customer = await relay.customer('10');
    const support = await person(relay, { roles: ['support'], accountId: customer.accountId });
    const ticketId = await openTicket(support);
    const chargeId = await paidCharge(relay, customer);
    const { error } = await refund(support, ticketId, chargeId, '0.1');
    expect(error?.error.code).toBe('second_person_required');
    const colleague = await person(relay, { roles: ['support'] });
    expect((await refund(colleague, ticketId, chargeId, '0.1')).data?.state).toBe('refunded');
  });

  it('gets no transfer and no adjustment from its owner, nor does the account of someone they invited', async () => {
    const [finance, friend] = [await person(relay, { roles: ['finance'] }), await person(relay)];
    await invites(finance, friend);
    for (const who of [finance, friend]) {
      const recorded = await transfer(finance, who.accountId, '13');
      expect(recorded.error?.error.code).toBe('second_person_required');
      const ticketId = await openTicket(who);
      const adjusted = await finance.api.POST('/api/finance/adjustments', {
        body: {
          accountId: who.accountId,
          ticketId,
          amount: '1',
          reason: 'goodwill',
          note: 'for a friend',
          requestId: newId(),
        },
      });
      expect(adjusted.error?.error.code).toBe('second_person_required');
      expect(await mainOf(who)).toBe('0');
    }
  });
});

describe('what one person pays out in a day', () => {
  it('adds up across tickets and customers', () =>
    onOneDay(async () => {
      const support = await person(relay, { roles: ['support'] });
      const states: (string | undefined)[] = [];
      for (const amount of ['0.6', '0.4', '0.000000001']) {
        const customer = await relay.customer('10');
        const owner = await person(relay, { accountId: customer.accountId });
        const chargeId = await paidCharge(relay, customer);
        const { data } = await refund(support, await openTicket(owner), chargeId, amount);
        states.push(data?.state);
      }
      expect(states).toEqual(['refunded', 'refunded', 'pending']);
      await expectCleanLedger(relay);
    }));

  it('adds up if everything is requested at once', () =>
    onOneDay(async () => {
      const finance = await person(relay, { roles: ['finance'] });
      const buyers = await Promise.all(Array.from({ length: 12 }, () => person(relay)));
      const answers = await Promise.all(buyers.map(({ accountId }) => transfer(finance, accountId, '26')));
      expect(answers.filter(({ data }) => data?.topup)).toHaveLength(5);
      expect(answers.filter(({ data }) => data?.approvalId)).toHaveLength(7);
    }));

  it('always covers at least one top-up', async () => {
    const [finance, buyer] = [await person(relay, { roles: ['finance'] }), await person(relay)];
    const { error } = await transfer(finance, buyer.accountId, '1.29');
    expect(error?.error).toMatchObject({ code: 'invalid_value', param: 'paid' });
    expect((await transfer(finance, buyer.accountId, '1.3')).data?.topup?.credits).toBe('1');
  });
});

describe('roles', () => {
  it('cannot be granted by one administrator to people who then approve each other', async () => {
    const [admin, other] = [
      await person(relay, { roles: ['admin'] }),
      await person(relay, { roles: ['admin'] }),
    ];
    const [a, b] = [await person(relay), await person(relay)];
    const asked = await grant(admin, a.userId, ['finance']);
    expect(asked.data).toMatchObject({ roles: ['user'], approvalId: expect.any(String) });
    expect((await grant(admin, a.userId, ['finance'])).data?.approvalId).toBe(asked.data?.approvalId);
    expect((await transfer(a, b.accountId, '13')).response.status).toBe(403);
    expect((await approve(admin, asked.data?.approvalId)).error?.error.code).toBe('second_person_required');
    expect((await approve(other, asked.data?.approvalId)).data).toMatchObject({
      state: 'approved',
      self: false,
    });
    const { data } = await admin.api.GET('/api/admin/people', { params: { query: { email: a.email } } });
    expect(data?.items[0]?.roles).toEqual(['user', 'finance']);
    // Removing it needs no second person.
    expect((await grant(other, a.userId, [])).data).toMatchObject({ roles: ['user'], approvalId: null });
  });

  it('cannot be approved by someone who created or invited the person', async () => {
    const [admin, maker] = [
      await person(relay, { roles: ['admin'] }),
      await person(relay, { roles: ['admin'] }),
    ];
    const [invited, made] = [await person(relay), await person(relay)];
    await invites(maker, invited);
    await relay.fixture.owner.query(
      `INSERT INTO account_makers (account_id, maker_id, how) VALUES ($1, $2, 'created')`,
      [made.accountId, maker.userId],
    );
    for (const who of [invited, made]) {
      const { data } = await grant(admin, who.userId, ['finance']);
      expect((await approve(maker, data?.approvalId)).error?.error.code).toBe('second_person_required');
    }
  });

  it('give the person who requested them no say about that person', async () => {
    const [admin, other] = [
      await person(relay, { roles: ['admin'] }),
      await person(relay, { roles: ['admin'] }),
    ];
    const clerk = await person(relay);
    await approve(other, (await grant(admin, clerk.userId, ['support'])).data?.approvalId);
    const freeze = (by: Person) =>
      by.api.POST('/api/support/accounts/{accountId}/freeze', {
        params: { path: { accountId: clerk.accountId } },
        body: { reason: 'between us' },
      });
    expect((await freeze(admin)).error?.error.code).toBe('second_person_required');
    expect((await freeze(other)).data?.frozen).toMatchObject({ reason: 'between us' });
  });
});

describe('a person', () => {
  const madeBy = async (maker: Person): Promise<Person> => {
    const made = await person(relay);
    await relay.fixture.owner.query(
      `INSERT INTO account_makers (account_id, maker_id, how) VALUES ($1, $2, 'created')`,
      [made.accountId, maker.userId],
    );
    return made;
  };
  const setDisabled = (by: Person, userId: string, disabled: boolean) =>
    by.api.PUT('/api/admin/people/{userId}/disabled', { params: { path: { userId } }, body: { disabled } });
  const removeTotp = (by: Person, userId: string) =>
    by.api.DELETE('/api/admin/people/{userId}/totp', { params: { path: { userId } } });

  it('can be blocked by their creator, but only unblocked by someone else', async () => {
    const [maker, other] = [
      await person(relay, { roles: ['admin'] }),
      await person(relay, { roles: ['admin'] }),
    ];
    const [made, invited] = [await madeBy(maker), await person(relay)];
    await invites(maker, invited);
    for (const { userId } of [made, invited]) {
      // Their creator may block them, because that only removes rights.
      expect((await setDisabled(maker, userId, true)).data).toMatchObject({ disabled: true });
      expect((await setDisabled(maker, userId, false)).error?.error.code).toBe('second_person_required');
      expect((await setDisabled(other, userId, false)).data).toMatchObject({ disabled: false });
    }
  });

  it('keeps their second factor until someone other than their creator removes it', async () => {
    const [maker, other] = [
      await person(relay, { roles: ['admin'] }),
      await person(relay, { roles: ['admin'] }),
    ];
    const [made, invited] = [await madeBy(maker), await person(relay)];
    await invites(maker, invited);
    for (const { userId } of [made, invited]) {
      expect((await removeTotp(maker, userId)).error?.error.code).toBe('second_person_required');
      expect((await removeTotp(other, userId)).data).toMatchObject({ userId });
    }
  });

  it('gets no roles from their creator', async () => {
    const [maker, other] = [
      await person(relay, { roles: ['admin'] }),
      await person(relay, { roles: ['admin'] }),
    ];
    const made = await madeBy(maker);
    const asked = await grant(maker, made.userId, ['finance']);
    expect(asked.data).toMatchObject({ roles: ['user'], approvalId: expect.any(String) });
    expect((await approve(maker, asked.data?.approvalId)).error?.error.code).toBe('second_person_required');
    expect((await approve(other, asked.data?.approvalId)).data).toMatchObject({ state: 'approved' });
  });
});

describe('prices', () => {
  type Changes = Parameters<typeof proposeBody>[0];
  const proposeBody = (changes: { model?: string; price?: string; group?: string; multiplier?: string }[]) =>
    changes.map(({ model, price, group, multiplier }) =>
      model === undefined
        ? { kind: 'multiplier' as const, group: group!, multiplier: multiplier! }
        : { kind: 'price' as const, model, price: { unitPrice: price! } },
    );
  const propose = async (by: Person, changes: Changes) =>
    (await by.api.POST('/api/admin/price-proposals', { body: { changes: proposeBody(changes) } })).data!;
  const confirm = (by: Person, { id, revision }: { id: string; revision: number }) =>
    by.api.POST('/api/admin/price-proposals/{proposalId}/confirm', {
      params: { path: { proposalId: id } },
      body: { revision },
    });
  const admins = async () => [
    await person(relay, { roles: ['admin'] }),
    await person(relay, { roles: ['admin'] }),
  ];

  it('drop to 0 only with two administrators, no matter who revised them last', async () => {
    const [admin, other] = await admins();
    const free = await propose(admin!, [{ group: 'Public-Relay', multiplier: '0' }]);
    expect(free.needsSecondPerson).toMatchObject({ code: 'is_zero', change: { group: 'Public-Relay' } });
    expect((await confirm(admin!, free)).error?.error.code).toBe('second_person_required');
    const revised = await other!.api.PATCH('/api/admin/price-proposals/{proposalId}', {
      params: { path: { proposalId: free.id } },
      body: {
        revision: free.revision,
        changes: proposeBody([{ group: 'Public-Relay', multiplier: '0.01' }]),
      },
    });
    expect((await confirm(other!, revised.data!)).error?.error.code).toBe('second_person_required');
    expect((await confirm(admin!, revised.data!)).data).toMatchObject({
      state: 'confirmed',
      confirmedAlone: false,
    });
  });

  it('add up across what one person confirms in a day', () =>
    onOneDay(async () => {
      const [admin, other] = await admins();
      const change = async (price: string) => propose(admin!, [{ model: 'imgmodel-4', price }]);
      const { data } = await admin!.api.GET('/api/admin/prices/export');
      const row = data!.rows.find((each) => each.kind === 'price' && each.model === 'imgmodel-4');
      const now = Number((row as { price: { unitPrice: string } }).price.unitPrice);
      const times = (factor: number) => (now * factor).toFixed(9);
      expect((await confirm(admin!, await change(times(0.9)))).data?.state).toBe('confirmed');
      const second = await change(times(0.79));
      expect((await confirm(admin!, second)).error?.error.message).toContain('20 percent');
      const group = await propose(admin!, [{ group: 'Vendora-Main', multiplier: '0.85' }]);
      expect((await confirm(admin!, group)).error?.error.code).toBe('second_person_required');
      expect((await confirm(other!, second)).data?.state).toBe('confirmed');
    }));
});

describe('channels', () => {
  const MODEL = 'imgmodel-lite';
  const routeOf = async () => {
    const { rows } = await relay.fixture.owner.query<{ channel: string; upstream: string }>(
      'SELECT channel_id AS channel, upstream_model AS upstream FROM channel_models WHERE model_id = $1',
      [MODEL],
    );
    return rows;
  };

  it('send a cheap model to no dear one, and nowhere else, with one administrator', async () => {
    await relay.customer('1');
    const admin = await person(relay, { roles: ['admin'] });
    const channel = { params: { path: { channelId: 'sandbox' } } };
    const before = await routeOf();
    const current = (await admin.api.GET('/api/admin/channels/{channelId}', channel)).data!;
    const change = (body: object) => admin.api.PATCH('/api/admin/channels/{channelId}', { ...channel, body });
    const dear = { models: { ...current.models, [MODEL]: 'imgmodel-4' } };
    expect((await change(dear)).data?.approvalId).toEqual(expect.any(String));
    const elsewhere = { baseUrl: 'https://own.example', apiKeys: ['own-key'] };
    expect((await change(elsewhere)).error?.error.code).toBe('second_person_required');
    const { data: own } = await admin.api.POST('/api/admin/channels', {
      body: { ...elsewhere, id: 'own', protocol: 'openai-xai', models: dear.models, groups: current.groups },
    });
    expect(own).toMatchObject({ models: {}, groups: [], approvalId: expect.any(String) });
    expect(await routeOf()).toEqual(before);
    expect((await approve(admin, own?.approvalId)).error?.error.code).toBe('second_person_required');
    const other = await person(relay, { roles: ['admin'] });
    expect((await approve(other, own?.approvalId)).data).toMatchObject({ kind: 'channel.routes' });
    expect(await routeOf()).toContainEqual({ channel: 'own', upstream: 'imgmodel-4' });
  });
});
