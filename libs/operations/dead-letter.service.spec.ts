import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { topics } from '#bus/topics.js';
import { newId } from '#platform/ids.js';
import { actionsOn } from '../../test/support/audit.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { race } from '../../test/support/race.js';
import {
  findLetter,
  letterFault,
  listLetters,
  outlookOf,
  replayLetter,
  type StoredLetter,
} from './dead-letter.service.js';
import { storeDeadLetter } from './dead-letters.store.js';

type Kept = Parameters<typeof storeDeadLetter>[1];

const TOPIC = topics.keyChanged.name;

let ledger: LedgerFixture;
let offset = 0;

beforeAll(async () => {
  ledger = await createLedgerFixture();
});
afterAll(() => ledger.close());

/** Stores a message that a group could not handle. */
async function keep(of: Partial<Kept> = {}): Promise<StoredLetter> {
  offset += 1;
  const [keyId, accountId] = [newId(), newId()];
  await storeDeadLetter(ledger.billing, {
    topic: TOPIC,
    group: 'gateway',
    partition: 0,
    offset: String(offset),
    key: keyId,
    payload: JSON.stringify({ keyId, accountId }),
    id: null,
    reason: 'it failed',
    ...of,
  });
  const [newest] = await list();
  return newest!;
}

function list(filter: Parameters<typeof listLetters>[1] = {}, limit = 50): Promise<StoredLetter[]> {
  return listLetters(ledger.billing, filter, { limit, after: null });
}

function replay({ id }: StoredLetter): Promise<StoredLetter> {
  return replayLetter(ledger.billing, id, { actor: 'user:1', requestId: newId() });
}

async function sent({ key }: StoredLetter): Promise<number> {
  const found = await ledger.owner.query('SELECT FROM outbox WHERE topic = $1 AND key = $2', [TOPIC, key]);
  return found.rowCount ?? 0;
}

describe('a dead letter', () => {
  it('is stored once per message and group, and by each group', async () => {
    const before = (await list()).length;
    const { offset: same } = await keep();
    await keep({ offset: same, reason: 'another reason' });
    expect((await list())[0]).toMatchObject({ offset: same, reason: 'it failed' });
    await keep({ offset: same, group: 'other' });
    expect(await list()).toHaveLength(before + 2);
  });

  it('is stored however long it is, even with characters that the database rejects', async () => {
    const { payload, reason } = await keep({
      payload: `\u0000${'x'.repeat(200_000)}`,
      reason: 'y'.repeat(9_000),
    });
    expect(payload).toHaveLength(100_000);
    expect(payload!.startsWith('\uFFFDx')).toBe(true);
    expect(reason).toHaveLength(2_000);
  });

  it('is replayed once, even by two at once, and stays as a record', async () => {
    const letter = await keep();
    expect(outlookOf(letter).canReplay).toBe(true);
    expect(await race([replay(letter), replay(letter)])).toEqual({ succeeded: 1, refused: ['conflict'] });
    expect(await sent(letter)).toBe(1);
    const kept = await findLetter(ledger.billing, letter.id);
    expect(kept).toMatchObject({ replayedBy: 'user:1', payload: letter.payload });
    expect(outlookOf(kept).canReplay).toBe(false);
    expect(await actionsOn(ledger, `dead_letter:${letter.id}`)).toEqual(['dead_letter.replayed']);
  });

  it.each<[string, Partial<Kept>, string, string]>([
    ['with an unknown topic', { topic: 'no.such' }, 'unknown_topic', 'failed'],
    [
      'for a request whose sender has continued',
      { topic: topics.chargeRequested.name },
      'nobody_waits',
      'unreadable',
    ],
    ['without a key', { key: null }, 'incomplete', 'failed'],
    ['without a payload', { payload: null }, 'incomplete', 'unreadable'],
    ['that cannot be read', { payload: '{' }, 'unreadable', 'unreadable'],
    ['that is incomplete', { payload: '{"keyId":"x"}' }, 'unreadable', 'unreadable'],
  ])('%s is not replayed', async (_, of, obstacle, fault) => {
    const letter = await keep(of);
    expect(outlookOf(letter)).toMatchObject({ canReplay: false, obstacle });
    expect(letterFault(letter)).toBe(fault);
    await expect(replay(letter)).rejects.toMatchObject({ code: 'conflict' });
    expect(await actionsOn(ledger, `dead_letter:${letter.id}`)).toEqual([]);
  });

  it('is not found if it does not exist', async () => {
    await expect(findLetter(ledger.billing, 0n)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the list of dead letters', () => {
  it('has the newest first, in pages and by subject', async () => {
    const about = newId();
    const letter = await keep({ group: 'a-group', id: about });
    await replay(letter);
    const all = await list();
    const ids = all.map(({ id }) => Number(id));
    expect(ids).toEqual([...ids].sort((a, b) => b - a));
    const after = String(all[0]!.id);
    expect(await listLetters(ledger.billing, {}, { limit: 2, after })).toEqual(all.slice(1, 3));
    for (const filter of [{ group: 'a-group' }, { about }])
      expect((await list(filter)).map(({ id }) => id)).toEqual([letter.id]);
    const replayed = all.filter(({ replayedAt }) => replayedAt !== null);
    expect(await list({ replayed: true })).toEqual(replayed);
    expect(await list({ replayed: false })).toHaveLength(all.length - replayed.length);
    expect(await list({ topic: 'no.such' })).toEqual(all.filter(({ topic }) => topic === 'no.such'));
  });
});
