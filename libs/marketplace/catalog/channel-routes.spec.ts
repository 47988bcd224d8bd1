import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { type InstallationFact, recordFact } from '#identity/installation.js';
import type { Actor } from '#identity/role.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import type { TaskState } from '#tasks/task-state.js';
import { priceCredits } from '#topup/conversion.js';
import { auditOf } from '../../../test/support/audit.js';
import { type CatalogFixture, openCatalog } from '../../../test/support/catalog.js';
import { staffActor } from '../../../test/support/staff.js';
import { recordTopup } from '../../../test/support/topups.js';
import type { ChannelChange, NewChannel } from './channel.service.js';

let catalog: CatalogFixture;
let admins: [Actor, Actor];

beforeAll(async () => {
  catalog = await openCatalog();
  admins = [await staffActor(catalog.ledger, 'admin'), await staffActor(catalog.ledger, 'admin')];
});
afterAll(() => catalog.close());

const BASE_URL = 'https://api.example.com/v1';
const ROUTES = { models: { 'imgmodel-4': 'lite' }, groups: ['Vendora-Main'] };
const secondPerson = { code: 'second_person_required' };
const byFirst = () => ({ actor: `user:${admins[0].userId}`, requestId: newId() });

async function create(of: Partial<NewChannel> = {}) {
  const wanted = { id: `channel-${newId()}`, protocol: 'openai-xai' as const, baseUrl: BASE_URL, ...of };
  return catalog.channels.create({ apiKeys: ['a-key'], ...wanted }, byFirst());
}

/** A channel whose routes a second person approved. */
async function serving(of: Partial<NewChannel> = {}): Promise<string> {
  const { id, approvalId } = await create({ ...ROUTES, ...of });
  await approve(approvalId);
  return id;
}

const change = (id: string, wanted: ChannelChange) => catalog.channels.change(id, wanted, byFirst());

function approve(approvalId: string | null, actor = admins[1]) {
  return catalog.approvals.approve({ approvalId: approvalId!, actor, note: null, requestId: newId() });
}

async function routesOf(id: string) {
  const { models, groups } = await catalog.channels.find(id);
  return { models, groups };
}

/** @returns its end */
async function startTask(channel: string, state: TaskState): Promise<() => Promise<unknown>> {
  const { accountId, keyId } = await catalog.ledger.account({ credits: '1' });
  const { owner } = catalog.ledger;
  const id = newId();
  await owner.query(
    `INSERT INTO tasks (id, kind, account_id, key_id, charge_id, dialect, state, model_id, requested_model, request, seconds,
       channel_id, deadline)
     VALUES ($1, 'video', $2, $3, $1, 'openai', $5, 'vidmodel-3', 'vidmodel-3', '{}', 5, $4, now())`,
    [id, accountId, keyId, channel, state],
  );
  return () => owner.query(`UPDATE tasks SET state = 'failed', ended_at = now() WHERE id = $1`, [id]);
}

async function declare(fact: InstallationFact, holds: boolean): Promise<void> {
  await inTransaction(catalog.ledger.owner, (client) => recordFact(client, fact, holds));
}

describe('before anyone has paid', () => {
  it('one administrator sets up channels and moves them, also after simulated payments', async () => {
    const { accountId } = await catalog.ledger.account({ credits: '0' });
    await recordTopup(catalog.ledger.billing, {
      accountId,
      provider: 'sandbox',
      paymentId: `played-${accountId}`,
      ...priceCredits(parseAmount('1'), '1.3'),
      rate: '1.3',
      currency: 'USD',
    });
    const { id, approvalId } = await create(ROUTES);
    expect(approvalId).toBeNull();
    const moved = { baseUrl: 'https://api.example.com/v2', models: { 'imgmodel-4': 'other' } };
    expect(await change(id, moved)).toMatchObject({ ...moved, approvalId: null });
  });
});

describe('once customers have paid', () => {
  beforeEach(async () => {
    await catalog.ledger.account({ credits: '1' });
  });

  it('a new channel serves nothing before a second administrator approves', async () => {
    const { id, approvalId, ...channel } = await create(ROUTES);
    expect(channel).toMatchObject({ models: {}, groups: [] });
    expect(await catalog.approvals.show(approvalId!, admins[1])).toMatchObject({
      reason: `Send paid requests through ${id}: imgmodel-4 (upstream name: lite), group Vendora-Main.`,
    });
    await expect(approve(approvalId, admins[0])).rejects.toMatchObject(secondPerson);
    const before = await catalog.announced();
    await Promise.all([approve(approvalId), approve(approvalId)]);
    expect(await routesOf(id)).toEqual(ROUTES);
    expect(await catalog.announced()).toBe(before + 1);
    const actions = (await auditOf(catalog.ledger, `channel:${id}`)).map(({ action, actor }) => [
      action,
      actor,
    ]);
    expect(actions).toEqual([
      ['approval.requested', `user:${admins[0].userId}`],
      ['channel.created', `user:${admins[0].userId}`],
      ['channel.routes-added', `user:${admins[1].userId}`],
      ['approval.approved', `user:${admins[1].userId}`],
    ]);
  });

  it('a model keeps its upstream, and further models and groups wait', async () => {
    const id = await serving();
    const wanted = {
      models: { 'imgmodel-4': 'dear', 'imgmodel-lite': 'model@20260101' },
      groups: ['Public-Relay', 'Vendora-Main'],
    };
    const { approvalId } = await change(id, wanted);
    expect(await routesOf(id)).toEqual(ROUTES);
    expect((await change(id, wanted)).approvalId).toBe(approvalId);
    await approve(approvalId);
    expect(await routesOf(id)).toEqual(wanted);
  });

  it('one administrator takes routes away, but does not bring them back', async () => {
    const id = await serving();
    expect(await change(id, { models: {}, groups: [] })).toMatchObject({ models: {}, approvalId: null });
    expect(await change(id, ROUTES)).toMatchObject({
      models: {},
      groups: [],
      approvalId: expect.any(String),
    });
  });

  it('one administrator switches it off and on, weighs it and changes its keys', async () => {
    const id = await serving();
    await change(id, { enabled: false });
    const answer = await change(id, {
      enabled: true,
      weight: 3,
      priority: 2,
      apiKeys: ['another-key'],
      ...ROUTES,
    });
    expect(answer).toMatchObject({ enabled: true, weight: 3, ...ROUTES, approvalId: null });
  });

  it('keeps its base URL while it serves models or follows tasks', async () => {
    const baseUrl = 'https://api.example.com/dear';
    const id = await serving();
    await expect(change(id, { baseUrl })).rejects.toMatchObject(secondPerson);
    await expect(change(id, { baseUrl, models: {} })).rejects.toMatchObject(secondPerson);
    expect(await change(id, { models: {}, baseUrl: `${BASE_URL}/` })).toMatchObject({ baseUrl: BASE_URL });
    for (const state of ['submitting', 'submitted', 'unknown'] as const) {
      const end = await startTask(id, state);
      await expect(change(id, { baseUrl })).rejects.toMatchObject(secondPerson);
      await end();
    }
    expect(await change(id, { baseUrl })).toMatchObject({ baseUrl });
  });

  it('a channel that moved to another upstream meanwhile gets nothing of what was asked', async () => {
    for (const baseUrl of [BASE_URL, 'https://api.example.com/@v1']) {
      const { id, approvalId } = await create({ ...ROUTES, baseUrl });
      const elsewhere = baseUrl.replace('api.example.com', 'own.example.com');
      await change(id, { baseUrl: elsewhere, apiKeys: ['a-key'] });
      await expect(approve(approvalId)).rejects.toMatchObject({ code: 'conflict' });
      expect(await routesOf(id)).toEqual({ models: {}, groups: [] });
    }
  });

  it('a channel gets nothing back that was removed after an approval was requested', async () => {
    const id = await serving();
    const renamed = { models: { 'imgmodel-4': 'dear' } };
    const { approvalId: ofModel } = await change(id, renamed);
    await change(id, { models: {} });
    await expect(approve(ofModel)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('imgmodel-4 was removed'),
    });
    const { approvalId: again } = await change(id, renamed);
    expect(again).not.toBe(ofModel);
    expect((await change(id, renamed)).approvalId).toBe(again);
    await approve(again);
    expect((await routesOf(id)).models).toEqual(renamed.models);
    await change(id, { models: {} });
    const groups = ['Public-Relay', 'Vendora-Main'];
    const { approvalId: ofBoth } = await change(id, { ...renamed, groups });
    const { approvalId: ofGroup } = await change(id, { groups });
    await approve(ofGroup);
    await change(id, { groups: ['Vendora-Main'] });
    await expect(approve(ofBoth)).rejects.toMatchObject({ code: 'conflict' });
    expect(await routesOf(id)).toEqual({ models: {}, groups: ['Vendora-Main'] });
  });

  it('one person confirms alone in an installation with one, on the record', async () => {
    const { id, approvalId } = await create(ROUTES);
    const baseUrl = 'https://api.example.com/v2';
    await declare('one-person', true);
    try {
      await approve(approvalId, admins[0]);
      expect(await change(id, { baseUrl })).toMatchObject({ baseUrl, ...ROUTES });
    } finally {
      await declare('one-person', false);
    }
    const { rows } = await catalog.ledger.owner.query('SELECT subject FROM done_alone ORDER BY id');
    expect(rows).toEqual([{ subject: `approval:${approvalId}` }, { subject: `channel:${id}` }]);
  });

  it('one person goes on setting up channels if the payments are simulated', async () => {
    await declare('played-payments', true);
    const { approvalId } = await create(ROUTES).finally(() => declare('played-payments', false));
    expect(approvalId).toBeNull();
  });
});
