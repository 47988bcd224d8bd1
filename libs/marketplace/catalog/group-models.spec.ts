import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { recordFact } from '#identity/installation.js';
import type { Actor } from '#identity/role.js';
import { newId } from '#platform/ids.js';
import { auditOf } from '../../../test/support/audit.js';
import { admin, type CatalogFixture, openCatalog } from '../../../test/support/catalog.js';
import { onOneDay } from '../../../test/support/utc-day.js';
import { ProposalService } from '../prices/proposal.service.js';
import { race } from '../../../test/support/race.js';
import { staffActor } from '../../../test/support/staff.js';

let catalog: CatalogFixture;
let admins: [Actor, Actor];

beforeAll(async () => {
  catalog = await openCatalog();
  const { rows } = await catalog.ledger.owner.query<{ id: string }>(
    `SELECT id FROM models WHERE unit = 'token' AND family = 'chat' AND owned_by <> 'vendora' LIMIT 1`,
  );
  byToken = rows[0]!.id;
  admins = [await staffActor(catalog.ledger, 'admin'), await staffActor(catalog.ledger, 'admin')];
});
afterAll(() => catalog.close());

const invalid = { code: 'invalid_value', param: 'models' };
const secondPerson = { code: 'second_person_required' };
/** A fixed price is per call, and does not touch it. */
let byToken: string;

const AT_LIST_PRICE = { multiplier: '1', fixedPerCall: null };

async function created(multiplier = '1.25'): Promise<string> {
  const name = `Group-${newId()}`;
  const wanted = { name, multiplier, fixedPerCall: null, models: ['imgmodel-4'] };
  return (await catalog.groups.create(wanted, admin())).group.name;
}

function set(group: string, ...models: string[]): Promise<string | null> {
  return catalog.groupModels.set(group, { models }, byFirst());
}

const byFirst = () => ({ actor: `user:${admins[0].userId}`, requestId: newId() });

const modelsOf = async (group: string) => (await catalog.groups.find(group)).models;

function approve(approvalId: string, actor: Actor) {
  return catalog.approvals.approve({ approvalId, actor, note: null, requestId: newId() });
}

/** Prices that two people confirmed, in force now or after some days. */
async function confirmed(
  group: string,
  { fixedPerCall, inDays = 0 }: { fixedPerCall: string; inDays?: number },
) {
  await catalog.ledger.owner.query(
    `INSERT INTO group_rule_versions (group_name, rule, unit_price, effective_from)
     VALUES ($1, 'fixed_per_call', $2, now() + $3 * interval '1 day')`,
    [group, fixedPerCall, inDays],
  );
}

async function declareOnePerson(holds: boolean): Promise<void> {
  await inTransaction(catalog.ledger.owner, (client) => recordFact(client, 'one-person', holds));
}

describe('the models of a group', () => {
  it('are set as a whole, and none that it may not serve', async () => {
    const group = await created();
    const before = await catalog.announced();
    expect(await set(group, 'imgmodel-lite', 'imgmodel-lite')).toBeNull();
    await expect(set(group, 'none')).rejects.toMatchObject(invalid);
    await expect(set(group, 'vendora-imagine-video')).rejects.toMatchObject(invalid);
    expect(await modelsOf(group)).toEqual(['imgmodel-lite']);
    expect(await catalog.announced()).toBe(before + 1);
    const [last] = (await auditOf(catalog.ledger, `group:${group}`)).slice(-1);
    const action = 'group.models-set';
    expect(last).toMatchObject({ action, before: ['imgmodel-4'], after: ['imgmodel-lite'] });
  });

  it('are set only once if two set them from the same state', async () => {
    const group = await created();
    const was = { models: ['imgmodel-4'] };
    const wanted = [['imgmodel-4', 'imgmodel-lite'], []];
    const both = wanted.map((models) => catalog.groupModels.set(group, { models, was }, byFirst()));
    expect(await race(both)).toEqual({ succeeded: 1, refused: ['conflict'] });
  });

  it('are refused for a group that does not exist', async () => {
    await expect(set('none')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('wait for a second person where the group has a fixed price, now or as announced', async () => {
    for (const inDays of [0, 3]) {
      const group = await created();
      await confirmed(group, { fixedPerCall: '0.0002', inDays });
      const approvalId = await set(group, byToken, 'imgmodel-lite');
      expect(await modelsOf(group)).toEqual([byToken]);
      expect(await set(group, byToken, 'imgmodel-lite')).toBe(approvalId);
      await expect(approve(approvalId!, admins[0])).rejects.toMatchObject(secondPerson);
      const before = await catalog.announced();
      await Promise.all([approve(approvalId!, admins[1]), approve(approvalId!, admins[1])]);
      expect(await modelsOf(group)).toEqual(['imgmodel-lite', byToken].sort());
      expect(await catalog.announced()).toBe(before + 1);
      const [, last] = (await auditOf(catalog.ledger, `group:${group}`)).slice(-2);
      expect([last!.actor, last!.action]).toEqual([`user:${admins[1].userId}`, 'approval.approved']);
      expect(await set(group, 'imgmodel-lite')).toBeNull();
    }
  });

  it('wait for a second person where the multiplier is further below 1 than one person may move it', async () => {
    const group = await created('0.8');
    expect(await set(group, 'imgmodel-lite')).toBeNull();
    await catalog.ledger.owner.query(
      `INSERT INTO multiplier_versions (group_name, multiplier, effective_from) VALUES ($1, 0.7999, now())`,
      [group],
    );
    expect(await set(group, 'imgmodel-lite', 'vendora-chat-lite')).not.toBeNull();
    expect(await modelsOf(group)).toEqual(['imgmodel-lite']);
  });

  it('wait for a second person where the price was low today, or is proposed to be', () =>
    onOneDay(async () => {
      const multiplied = async (group: string, multiplier: string | null) => {
        await catalog.ledger.owner.query(
          `INSERT INTO multiplier_versions (group_name, multiplier, effective_from) VALUES ($1, $2, clock_timestamp())`,
          [group, multiplier],
        );
      };
      for (const then of ['0.8', null]) {
        const group = await created();
        await multiplied(group, '0.7');
        await multiplied(group, then);
        expect(await set(group, 'imgmodel-lite')).not.toBeNull();
      }
      const proposals = new ProposalService({ pool: catalog.ledger.billing, lifeMs: 3_600_000 });
      for (const change of [
        { kind: 'rule', rule: 'fixed_per_call', unitPrice: '0.0002' },
        { kind: 'multiplier', multiplier: '0.5' },
      ] as const) {
        const group = await created();
        const changes = [{ ...change, group }];
        const { id, revision } = await proposals.propose({ changes, effectiveAt: null, note: '' }, admin());
        expect(await set(group, 'imgmodel-4', 'imgmodel-lite')).not.toBeNull();
        await proposals.cancel(id, revision, admin());
        expect(await set(group, 'imgmodel-4', 'imgmodel-lite')).toBeNull();
      }
    }));

  it('wait for one approval, in whatever order and for however many groups', async () => {
    const groups = ['constructor', await created()];
    await catalog.groups.create({ ...AT_LIST_PRICE, name: 'constructor', models: [] }, admin());
    for (const group of groups) await confirmed(group, { fixedPerCall: '0.0002' });
    expect(await set('constructor', 'imgmodel-lite', 'imgmodel-4')).toBe(
      await set('constructor', 'imgmodel-4', 'imgmodel-lite'),
    );
    const id = newId();
    const wanted = { id, family: 'image', ownedBy: 'us', enabled: true, limits: {} } as const;
    const { approvalId } = await catalog.models.create({ ...wanted, groups }, byFirst());
    await approve(approvalId!, admins[1]);
    expect((await catalog.models.find(id)).groups).toEqual(groups.sort());
    const actions = (await auditOf(catalog.ledger, `model:${id}`)).map(({ action }) => action);
    expect(actions).toContain('group.models-added');
  });

  it('get a new one that they would sell far below its list price once a second person approves', async () => {
    const group = await created();
    await confirmed(group, { fixedPerCall: '0.0002' });
    const create = (unit: 'call' | 'token') => {
      const wanted = {
        id: newId(),
        ownedBy: 'us',
        enabled: true,
        limits: {},
        groups: ['Vendora-Main', group],
      };
      return catalog.models.create({ ...wanted, family: 'image', unit }, byFirst());
    };
    expect(await create('token')).toMatchObject({ groups: [group, 'Vendora-Main'].sort(), approvalId: null });
    const { model, groups, approvalId } = await create('call');
    expect(groups).toEqual(['Vendora-Main']);
    await approve(approvalId!, admins[1]);
    expect((await catalog.models.find(model.id)).groups).toEqual([group, 'Vendora-Main'].sort());
  });

  it('stay without one that was removed after its approval was requested', async () => {
    const group = await created();
    await confirmed(group, { fixedPerCall: '0.0002' });
    await set(group);
    const both = await set(group, 'imgmodel-4', 'imgmodel-lite');
    const one = await set(group, 'imgmodel-lite');
    await approve(one!, admins[1]);
    await set(group);
    await expect(approve(both!, admins[1])).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('imgmodel-lite was removed'),
    });
    expect(await modelsOf(group)).toEqual([]);
    const again = await set(group, 'imgmodel-4', 'imgmodel-lite');
    expect(again).not.toBe(both);
    expect(await set(group, 'imgmodel-4', 'imgmodel-lite')).toBe(again);
    await approve(again!, admins[1]);
    expect(await modelsOf(group)).toEqual(['imgmodel-4', 'imgmodel-lite']);
  });

  it('are approved by the same person in an installation with one person, on the record', async () => {
    const group = await created();
    await confirmed(group, { fixedPerCall: '0.0002' });
    const approvalId = await set(group, 'imgmodel-4', 'imgmodel-lite');
    await declareOnePerson(true);
    await approve(approvalId!, admins[0]).finally(() => declareOnePerson(false));
    expect(await modelsOf(group)).toEqual(['imgmodel-4', 'imgmodel-lite']);
  });
});
