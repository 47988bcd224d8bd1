import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { recordFact } from '#identity/installation.js';
import type { Actor } from '#identity/role.js';
import { newId } from '#platform/ids.js';
import { auditOf } from '../../../test/support/audit.js';
import { admin, type CatalogFixture, openCatalog } from '../../../test/support/catalog.js';
import { race } from '../../../test/support/race.js';
import { staffActor } from '../../../test/support/staff.js';
import { onOneDay } from '../../../test/support/utc-day.js';
import type { PriceChange } from '../prices/price-change.js';
import { type DoneBy, ProposalService } from '../prices/proposal.service.js';
import type { GroupRules, NewGroup } from './group.service.js';

let catalog: CatalogFixture;

beforeAll(async () => {
  catalog = await openCatalog();
});
afterAll(() => catalog.close());

function newGroup(of: Partial<NewGroup> = {}): NewGroup {
  return { name: `Group-${newId()}`, multiplier: '1.25', fixedPerCall: null, models: ['imgmodel-4'], ...of };
}

async function created(of: Partial<NewGroup> = {}): Promise<string> {
  const { group } = await catalog.groups.create(newGroup(of), admin());
  return group.name;
}

const secondPerson = { code: 'second_person_required' };
const invalid = { code: 'invalid_value', param: 'models' };

describe('a new group', () => {
  it('begins with its multiplier, closed and without limits', async () => {
    const wanted = newGroup({
      multiplier: '0.80',
      models: ['imgmodel-lite', 'imgmodel-4'],
    });
    expect(await catalog.groups.create(wanted, admin())).toMatchObject({
      group: { open: false, requestsPerMinute: null, maxRunningTasks: null, maxConcurrentRequests: null },
      models: ['imgmodel-4', 'imgmodel-lite'],
      multiplier: '0.8',
      fixedPerCall: null,
    });
    expect(await auditOf(catalog.ledger, `group:${wanted.name}`)).toMatchObject([
      { action: 'group.created', after: { multiplier: '0.80' } },
    ]);
  });

  it('is created once, even if two create it at once, complete or not at all', async () => {
    const wanted = newGroup();
    const both = [1, 2].map(() => catalog.groups.create(wanted, admin()));
    expect(await race(both)).toEqual({ succeeded: 1, refused: ['conflict'] });
    const wrong = newGroup({ models: ['none'] });
    await expect(catalog.groups.create(wrong, admin())).rejects.toMatchObject(invalid);
    await expect(catalog.groups.find(wrong.name)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('begins with nothing that a proposal could not set', async () => {
    await created({ multiplier: '1000' });
    for (const [param, value] of Object.entries({ multiplier: '1000.1', fixedPerCall: '1000000.000000001' }))
      await expect(created({ [param]: value })).rejects.toMatchObject({ code: 'invalid_value', param });
  });

  it('does not begin far below the list price, nor at a fixed one, which need a second person', async () => {
    const cheap = [
      { multiplier: '0.00' },
      { multiplier: '0.7999' },
      { fixedPerCall: '0' },
      { fixedPerCall: '9' },
    ];
    for (const of of cheap) {
      const wanted = newGroup(of);
      await expect(catalog.groups.create(wanted, admin())).rejects.toMatchObject(secondPerson);
      await expect(catalog.groups.find(wanted.name)).rejects.toMatchObject({ code: 'not_found' });
    }
  });

  it('counts with what the same person moves on the same day, before and after it', () =>
    onOneDay(async () => {
      const proposals = new ProposalService({ pool: catalog.ledger.billing, lifeMs: 3_600_000 });
      const move = async (change: PriceChange, { actor }: DoneBy) => {
        const by = { actor, requestId: newId() };
        const wanted = { changes: [change], effectiveAt: null, note: 'a test' };
        const { id, revision } = await proposals.propose(wanted, by);
        return proposals.confirm(id, revision, by);
      };
      const [first, second] = [admin(), admin()];
      const { group } = await catalog.groups.create(newGroup({ multiplier: '0.8' }), first);
      const multiplier = { kind: 'multiplier', group: group.name } as const;
      await expect(move({ ...multiplier, multiplier: '0.75' }, first)).rejects.toMatchObject(secondPerson);
      await move({ ...multiplier, multiplier: '0.9' }, first);
      await move({ kind: 'price', model: 'imgmodel-4', price: { unitPrice: '0.027' } }, second);
      const create = (multiplierOf: string) =>
        catalog.groups.create(newGroup({ multiplier: multiplierOf }), second);
      await expect(create('0.85')).rejects.toMatchObject(secondPerson);
      await create('0.95');
    }));

  it('begins at any price in an installation with one person, on the record', async () => {
    const declare = (holds: boolean) =>
      inTransaction(catalog.ledger.owner, (client) => recordFact(client, 'one-person', holds));
    const wanted = newGroup({ multiplier: '0.50', fixedPerCall: '0.0020' });
    await declare(true);
    const made = await catalog.groups.create(wanted, admin()).finally(() => declare(false));
    expect(made).toMatchObject({ multiplier: '0.5', fixedPerCall: '0.002' });
    const actions = (await auditOf(catalog.ledger, `group:${wanted.name}`)).map(({ action }) => action);
    expect(actions.sort()).toEqual(['group.created', 'installation.done_alone']);
  });

  it('serves no videos, nor the vendor’s images', async () => {
    for (const model of ['vendora-imagine-video', 'vendora-imagine-image'])
      await expect(created({ models: [model] })).rejects.toMatchObject(invalid);
  });
});

describe('a change of a group', () => {
  it('sets what is named, even if two change it at once', async () => {
    const name = await created({ requestsPerMinute: 60, imagesPerMinute: 5 });
    await Promise.all([
      catalog.groups.change(name, { open: true }, admin()),
      catalog.groups.change(name, { maxRunningTasks: 3, tokensPerMinute: 900 }, admin()),
    ]);
    const { group } = await catalog.groups.change(name, { requestsPerMinute: null }, admin());
    const others = { maxRunningTasks: 3, tokensPerMinute: 900, imagesPerMinute: 5 };
    expect(group).toMatchObject({ open: true, requestsPerMinute: null, ...others });
    const [last] = (await auditOf(catalog.ledger, `group:${name}`)).slice(-1);
    expect(last).toMatchObject({ before: { requestsPerMinute: 60 }, after: { requestsPerMinute: null } });
  });

  it('sets limits and models together, or neither if one has changed since it was read', async () => {
    const name = await created({ models: ['imgmodel-4'], requestsPerMinute: 60, maxRunningTasks: 5 });
    const edit = { requestsPerMinute: 30, models: ['imgmodel-lite'] };
    const changed = (was: GroupRules & { models: string[] }) =>
      catalog.groups.change(name, { ...edit, was }, admin());
    await expect(changed({ requestsPerMinute: 50, models: ['imgmodel-4'] })).rejects.toMatchObject({
      code: 'conflict',
      param: 'was.requestsPerMinute',
    });
    await expect(changed({ requestsPerMinute: 60, models: [] })).rejects.toMatchObject({
      code: 'conflict',
      param: 'was.models',
    });
    expect(await catalog.groups.find(name)).toMatchObject({
      models: ['imgmodel-4'],
      group: { requestsPerMinute: 60 },
    });
    expect(await changed({ requestsPerMinute: 60, models: ['imgmodel-4'] })).toMatchObject({
      models: ['imgmodel-lite'],
      group: { requestsPerMinute: 30, maxRunningTasks: 5 },
      modelsApprovalId: null,
    });
    const actions = (await auditOf(catalog.ledger, `group:${name}`)).map(({ action }) => action);
    expect(actions).toEqual(['group.created', 'group.models-set', 'group.changed']);
  });

  it('opens a group that sells far below the list price, or at a fixed one, with a second person', async () => {
    const [first, second] = [
      await staffActor(catalog.ledger, 'admin'),
      await staffActor(catalog.ledger, 'admin'),
    ];
    const byFirst = () => ({ actor: `user:${first.userId}`, requestId: newId() });
    const approve = (approvalId: string, actor: Actor) =>
      catalog.approvals.approve({ approvalId, actor, note: null, requestId: newId() });
    const isOpen = async (name: string) => (await catalog.groups.find(name)).group.open;
    for (const [table, columns, price] of [
      ['multiplier_versions', 'multiplier', '0.5'],
      ['group_rule_versions', `rule, unit_price`, `'fixed_per_call', 0.0002`],
    ]) {
      const name = await created();
      await catalog.ledger.owner.query(
        `INSERT INTO ${table} (group_name, ${columns}, effective_from) VALUES ($1, ${price}, now())`,
        [name],
      );
      const change = (wanted: GroupRules) => catalog.groups.change(name, wanted, byFirst());
      const { group, approvalId } = await change({ open: true, maxRunningTasks: 3 });
      expect(group).toMatchObject({ open: false, maxRunningTasks: 3 });
      expect((await change({ open: true })).approvalId).toBe(approvalId);
      await expect(approve(approvalId!, first)).rejects.toMatchObject(secondPerson);
      expect(await isOpen(name)).toBe(false);
      const before = await catalog.announced();
      await Promise.all([approve(approvalId!, second), approve(approvalId!, second)]);
      expect([await isOpen(name), await catalog.announced()]).toEqual([true, before + 1]);
      expect(await change({ open: true })).toMatchObject({ group: { open: true }, approvalId: null });
      expect(await change({ open: false })).toMatchObject({ group: { open: false }, approvalId: null });
    }
  });

  it('is refused for a group that does not exist', async () => {
    const notFound = { code: 'not_found' };
    await expect(catalog.groups.change('none', {}, admin())).rejects.toMatchObject(notFound);
    await expect(catalog.groups.find('none')).rejects.toMatchObject(notFound);
  });
});

describe('the list of groups', () => {
  it('is ordered by name, in pages of any size, with what is in force now', async () => {
    const name = await created();
    await catalog.ledger.owner.query(
      `INSERT INTO multiplier_versions (group_name, multiplier, effective_from)
       VALUES ($1, 3, now() + interval '1 day')`,
      [name],
    );
    await catalog.ledger.owner.query(
      `INSERT INTO group_rule_versions (group_name, rule, unit_price) VALUES ($1, 'fixed_per_call', 0.1)`,
      [name],
    );
    const all = await catalog.groups.list({ limit: 500, after: '' });
    const paged = [];
    for (let after = ''; ;) {
      const [next] = await catalog.groups.list({ limit: 1, after });
      if (!next) break;
      paged.push(next);
      after = next.group.name;
    }
    expect(paged).toEqual(all);
    expect(all.find(({ group }) => group.name === name)).toMatchObject({
      multiplier: '1.25',
      fixedPerCall: '0.1',
    });
  });
});
