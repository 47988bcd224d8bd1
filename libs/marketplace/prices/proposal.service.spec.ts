import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { newId } from '#platform/ids.js';
import type { PriceChange } from './price-change.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { staffMember } from '../../../test/support/staff.js';
import { onOneDay } from '../../../test/support/utc-day.js';
import type { Proposal } from './proposal.js';
import { type DoneBy, ProposalService } from './proposal.service.js';

let ledger: LedgerFixture;
let proposals: ProposalService;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  await Promise.all(Array.from({ length: 8 }, () => ledger.billing.query('SELECT 1')));
  proposals = new ProposalService({ pool: ledger.billing, lifeMs: 3_600_000 });
});
afterAll(() => ledger.close());

/** An administrator, as named in the audit log. */
function admin(): DoneBy {
  return { actor: `user:${newId()}`, requestId: newId() };
}

/** A new model for each test, at 1 USD. */
async function newModel(): Promise<string> {
  const model = `model-${newId()}`;
  await ledger.owner.query(
    `INSERT INTO models SELECT (jsonb_populate_record(m, jsonb_build_object('id', $1::text))).*
     FROM models m WHERE id = 'imgmodel-4'`,
    [model],
  );
  await confirmed(await propose(model, '1'), admin());
  return model;
}

function priceOf(model: string, unitPrice: string): PriceChange {
  return { kind: 'price', model, price: { unitPrice } };
}

function propose(model: string, price: string, by = admin(), effectiveAt: Date | null = null) {
  return proposals.propose({ changes: [priceOf(model, price)], effectiveAt, note: 'a test' }, by);
}

function confirmed({ id, revision }: Proposal, by: DoneBy): Promise<Proposal> {
  return proposals.confirm(id, revision, by);
}

/** How many versions a model's price has. */
async function versionsOf(model: string): Promise<number> {
  const book = await loadPriceBook(ledger.billing);
  return book.prices.get(model)?.length ?? 0;
}

const conflict = { code: 'conflict' };

describe('a price proposal', () => {
  it('takes effect once if several people confirm it at once', async () => {
    const model = await newModel();
    const proposal = await propose(model, '1.1');
    const ends = await Promise.allSettled([1, 2, 3].map(() => confirmed(proposal, admin())));
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    for (const end of ends) if (end.status === 'rejected') expect(end.reason).toMatchObject(conflict);
    expect(await versionsOf(model)).toBe(2);
    expect((await proposals.find(proposal.id)).state).toBe('confirmed');
  });

  it('is refused if its base has changed since, even at the same moment, and says so', async () => {
    const model = await newModel();
    const both = [await propose(model, '1.1'), await propose(model, '1.2')];
    const ends = await Promise.allSettled(both.map((each) => confirmed(each, admin())));
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({ reason: conflict });
    expect(await versionsOf(model)).toBe(2);
    const stale = both[ends.findIndex(({ status }) => status === 'rejected')]!;
    expect(await proposals.staleness(stale)).toHaveLength(1);
    const { id, revision } = stale;
    const wanted = { changes: [priceOf(model, '1.15')], effectiveAt: null, note: 'again' };
    await confirmed(await proposals.revise({ id, revision }, wanted, admin()), admin());
    expect(await versionsOf(model)).toBe(3);
  });

  it('cannot be confirmed by someone who looked at it before it was revised', async () => {
    const model = await newModel();
    const looked = await propose(model, '1.1');
    const wanted = { changes: [priceOf(model, '1.19')], effectiveAt: null, note: 'more' };
    await proposals.revise(looked, wanted, admin());
    await expect(confirmed(looked, admin())).rejects.toMatchObject(conflict);
    await expect(proposals.cancel(looked.id, looked.revision, admin())).rejects.toMatchObject(conflict);
    expect(await versionsOf(model)).toBe(1);
  });

  it('is either confirmed or cancelled if both happen at once', async () => {
    const model = await newModel();
    const proposal = await propose(model, '1.1');
    const ends = await Promise.allSettled([
      confirmed(proposal, admin()),
      proposals.cancel(proposal.id, proposal.revision, admin()),
    ]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const isConfirmed = (await proposals.find(proposal.id)).state === 'confirmed';
    expect(await versionsOf(model)).toBe(isConfirmed ? 2 : 1);
  });

  it('that has expired cannot be confirmed and is no longer listed as open', async () => {
    const model = await newModel();
    const proposal = await propose(model, '1.1');
    await ledger.owner.query('UPDATE price_proposals SET expires_at = clock_timestamp() WHERE id = $1', [
      proposal.id,
    ]);
    await expect(confirmed(proposal, admin())).rejects.toMatchObject(conflict);
    const open = await proposals.list({ limit: 50, beforeId: null, openOnly: true });
    expect(open.map(({ id }) => id)).not.toContain(proposal.id);
    expect((await proposals.find(proposal.id)).state).toBe('expired');
  });

  it.each([
    ['a past time', new Date(0)],
    ['a time more than a year away', new Date(Date.now() + 400 * 86_400_000)],
  ])('for %s is not created', async (_, effectiveAt) => {
    const model = await newModel();
    await expect(propose(model, '1.1', admin(), effectiveAt)).rejects.toMatchObject({
      code: 'invalid_value',
      param: 'effectiveAt',
    });
  });

  it('is not created if it changes a subject twice, or one that does not exist', async () => {
    const model = await newModel();
    const changes = [priceOf(model, '1.1'), priceOf(model, '1.2')];
    const twice = proposals.propose({ changes, effectiveAt: null, note: 'a test' }, admin());
    await expect(twice).rejects.toMatchObject({ code: 'invalid_value', param: 'changes.1' });
    await expect(propose('no-such-model', '1')).rejects.toMatchObject({ param: 'changes.0' });
  });
});

describe('above a fifth', () => {
  it('a change needs someone other than its author, the last person to revise it', async () => {
    const model = await newModel();
    const [author, reviser] = [admin(), admin()];
    const proposal = await propose(model, '1.3', author);
    expect(await proposals.needsSecondPerson(proposal)).not.toBeNull();
    await expect(confirmed(proposal, author)).rejects.toMatchObject({ code: 'second_person_required' });
    const wanted = { changes: [priceOf(model, '1.4')], effectiveAt: null, note: 'more' };
    const revised = await proposals.revise(proposal, wanted, reviser);
    await expect(confirmed(revised, reviser)).rejects.toMatchObject({ code: 'second_person_required' });
    expect(await versionsOf(model)).toBe(1);
    await confirmed(revised, author);
    expect(await versionsOf(model)).toBe(2);
  });

  it('a large change of an author who has left the staff is confirmed by nobody', async () => {
    const model = await newModel();
    const { userId } = await staffMember(ledger, 'admin');
    const proposal = await propose(model, '0.5', { actor: `user:${userId}`, requestId: newId() });
    await ledger.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [userId]);
    await expect(confirmed(proposal, admin())).rejects.toMatchObject(conflict);
    expect(await versionsOf(model)).toBe(1);
    const again = await proposals.revise(
      proposal,
      { ...proposal, changes: [priceOf(model, '0.5')] },
      admin(),
    );
    expect(await confirmed(again, admin())).toMatchObject({ state: 'confirmed' });
  });

  it('small changes count together if one person makes them to one subject on one day', () =>
    onOneDay(async () => {
      const [model, author] = [await newModel(), admin()];
      await confirmed(await propose(model, '1.15', author), author);
      const second = await propose(model, '1.3', author);
      await expect(confirmed(second, author)).rejects.toMatchObject({ code: 'second_person_required' });
      await confirmed(second, admin());
      expect(await versionsOf(model)).toBe(3);
    }));

  it('what two people confirmed cannot be undone by one who moved it a little before', () =>
    onOneDay(async () => {
      const [model, author] = [await newModel(), admin()];
      await confirmed(await propose(model, '1.01', author), author);
      await confirmed(await propose(model, '2'), admin());
      const back = await propose(model, '0.9', author);
      await expect(confirmed(back, author)).rejects.toMatchObject({ code: 'second_person_required' });
      await confirmed(back, admin());
      expect(await versionsOf(model)).toBe(4);
    }));

  it('nor in several steps, each of them small', () =>
    onOneDay(async () => {
      const [model, author] = [await newModel(), admin()];
      await confirmed(await propose(model, '1.01', author), author);
      await confirmed(await propose(model, '1.35'), admin());
      await confirmed(await propose(model, '1.15', author), author);
      const further = await propose(model, '0.9', author);
      await expect(confirmed(further, author)).rejects.toMatchObject({ code: 'second_person_required' });
    }));

  it('one person may undo what they alone moved', () =>
    onOneDay(async () => {
      const [model, author] = [await newModel(), admin()];
      await confirmed(await propose(model, '0.81', author), author);
      await confirmed(await propose(model, '1', author), author);
      expect(await versionsOf(model)).toBe(3);
    }));
});
