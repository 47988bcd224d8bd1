import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { ManualClock } from '#platform/clock.fixture.js';
import { ConfigReader } from '#platform/config.js';
import { newId } from '#platform/ids.js';
import { placeOf, SecretBox } from '#platform/sealed-secret.js';
import { actionsOn, auditOf } from '../../test/support/audit.js';
import { openEntities } from '../../test/support/entities.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { race } from '../../test/support/race.js';
import { staffActor } from '../../test/support/staff.js';
import { DeliveryQueue } from './delivery.queue.js';
import type { DueDelivery } from './due-deliveries.js';
import { type Asker, EndpointService } from './endpoint.service.js';
import { type EventType, financeEventTypes } from './webhook-event.js';
import { readWebhooksConfig } from './webhooks.config.js';

const secrets = new SecretBox([randomBytes(32)]);
const webhooks = readWebhooksConfig(new ConfigReader({}));

let ledger: LedgerFixture;
let source: DataSource;
let clock: ManualClock;
let service: EndpointService;
let queue: DeliveryQueue;
let asker: Asker;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  source = await openEntities(ledger);
  clock = new ManualClock(Date.now());
  service = new EndpointService(source, { webhooks, secrets }, clock);
  queue = new DeliveryQueue(ledger.billing, webhooks);
});
beforeEach(async () => {
  asker = await newAsker();
});
afterAll(async () => {
  await source.destroy();
  await ledger.close();
});

async function newAsker(...roles: Parameters<typeof staffActor>[1][]): Promise<Asker> {
  return { actor: await staffActor(ledger, ...roles), requestId: newId() };
}

async function create(of: { url?: string; events?: EventType[] } = {}, by = asker) {
  const { url = 'https://example.com/hook', events = ['topup.credited'] } = of;
  return service.create(by, { url, events, description: 'of a test' });
}

/** A delivery as it is sent now. */
async function claimed(endpointId: string): Promise<DueDelivery> {
  const at = new Date(Date.now() + 1_000).toISOString();
  const { accountId } = asker.actor;
  await queue.add([{ id: `topup_${newId()}`, type: 'topup.credited', accountId, at, data: {} }]);
  return (await queue.claim({ further: 10, perAccount: 10, perEndpoint: 4 }, [])).find(
    (due) => due.endpointId === endpointId,
  )!;
}

function answered(status: number) {
  return { startedAt: new Date(), durationMs: 1, status, error: null, answer: '' };
}

function failingSince(endpointId: string, ms: number) {
  return ledger.owner.query(
    `UPDATE webhook_endpoints SET failing_since = now() - $2::float8 * interval '1 millisecond' WHERE id = $1`,
    [endpointId, ms],
  );
}

function list() {
  return service.list(asker.actor.accountId);
}

const notFound = { code: 'not_found' };

describe('a new endpoint', () => {
  it('shows its secret only this once; it is stored sealed and not logged', async () => {
    const { id, secret } = await create();
    const [stored] = await list();
    expect(stored).toMatchObject({ id, url: 'https://example.com/hook', previousSecret: null });
    expect(secrets.open(stored!.secret, placeOf.webhook(id))).toBe(secret);
    const noted = JSON.stringify([stored, await auditOf(ledger, `webhook:${id}`)]);
    expect(noted).not.toContain(secret);
    expect(await actionsOn(ledger, `webhook:${id}`)).toEqual(['webhook.created']);
  });

  it('is one of at most ten, even if they are created at once', async () => {
    const ends = await race(Array.from({ length: 13 }, () => create()));
    expect(ends).toEqual({ succeeded: 10, refused: ['conflict', 'conflict', 'conflict'] });
    const [first] = await list();
    await service.remove(asker, first!.id);
    expect(await create()).toHaveProperty('id');
  });

  it.each(['ftp://example.com', 'https://127.0.0.1/hook', 'example.com'])(
    'does not go to %s',
    async (url) => {
      await expect(create({ url })).rejects.toMatchObject({ param: 'url' });
      expect(await list()).toEqual([]);
    },
  );

  it('for finance events is for people in finance', async () => {
    const events = [...financeEventTypes];
    const refusal = { code: 'forbidden', param: 'events' };
    await expect(create({ events })).rejects.toMatchObject(refusal);
    const { id } = await create();
    expect(() => service.change(asker, id, { events })).toThrow(expect.objectContaining(refusal));
    expect(await create({ events }, await newAsker('finance'))).toMatchObject({ events });
  });
});

describe('a change of an endpoint', () => {
  it('sets what is named, even if two change it at once, and switches it off and on', async () => {
    const { id } = await create();
    await Promise.all([
      service.change(asker, id, { url: 'https://example.org/hook' }),
      service.change(asker, id, { events: ['charge.refunded'] }),
    ]);
    const off = await service.change(asker, id, { enabled: false });
    expect(off).toMatchObject({ url: 'https://example.org/hook', events: ['charge.refunded'] });
    expect(off).toMatchObject({ disabledReason: 'owner', disabledAt: expect.any(Date) });
    const on = await service.change(asker, id, { enabled: true });
    expect(on).toMatchObject({ disabledReason: null, disabledAt: null, failingSince: null });
  });

  it('that changes nothing is not logged, and the others are limited in a day', async () => {
    const { id, url, description, events } = await create();
    for (const enabled of [true, false, false])
      await service.change(asker, id, { url, description, events: [...events], enabled });
    const logged = ['webhook.created', 'webhook.changed'];
    expect(await actionsOn(ledger, `webhook:${id}`)).toEqual(logged);
    await ledger.owner.query('UPDATE attempts SET count = 1000');
    const refusal = {
      code: 'too_many_attempts',
      message: expect.stringContaining('1000 changes of settings'),
    };
    for (const one of [
      () => create(),
      () => service.rotateSecret(asker, id),
      () => service.change(asker, id, { enabled: true }),
    ])
      await expect(one()).rejects.toMatchObject(refusal);
    await service.remove(asker, id);
    expect(await actionsOn(ledger, `webhook:${id}`)).toEqual([...logged, 'webhook.deleted']);
  });

  it('of its address gives the new one its own time to fail', async () => {
    const { id } = await create();
    await failingSince(id, webhooks.disableAfterMs + 60_000);
    const changed = await service.change(asker, id, { url: 'https://example.com/new' });
    expect(changed.failingSince).toBeNull();
    const due = await claimed(id);
    expect(due.url).toBe('https://example.com/new');
    expect(await queue.failed(due, answered(503), 1_000)).toBeNull();
    expect(await list()).toMatchObject([{ disabledAt: null, failingSince: expect.any(Date) }]);
  });

  it('of its address leaves it out of what the old one answers', async () => {
    const { id } = await create();
    const [failed, succeeded] = [await claimed(id), await claimed(id)];
    const { url } = await service.change(asker, id, { url: 'https://example.com/new' });
    expect(await queue.failed(failed, answered(410), 1_000)).toBeNull();
    expect(await list()).toMatchObject([{ url, disabledAt: null, failingSince: null }]);
    await failingSince(id, 1_000);
    await queue.succeeded(succeeded, answered(200));
    expect(await list()).toMatchObject([{ failingSince: expect.any(Date) }]);
  });

  it('that enables it again and again is answered by 20 mails a day at most', async () => {
    const { id } = await create();
    for (let times = 0; times < 22; times += 1) {
      await service.change(asker, id, { enabled: true });
      const switchedOff = await queue.failed(await claimed(id), answered(410), 1_000);
      expect(switchedOff).toMatchObject({ reason: 'gone' });
    }
    expect(await list()).toMatchObject([{ disabledReason: 'gone', disabledAt: expect.any(Date) }]);
    const { rows } = await ledger.owner.query(
      `SELECT count(*)::int AS mails FROM mail_outbox m JOIN users u ON u.email = m.recipient
       WHERE u.account_id = $1 AND m.template = 'webhook_off'`,
      [asker.actor.accountId],
    );
    expect(rows).toEqual([{ mails: 20 }]);
  });

  it('cannot be made by another account', async () => {
    const { id } = await create();
    const stranger = await newAsker();
    const attempts = [
      service.change(stranger, id, { enabled: false }),
      service.remove(stranger, id),
      service.rotateSecret(stranger, id),
      service.find(stranger.actor.accountId, id),
    ];
    await Promise.all(attempts.map((refused) => expect(refused).rejects.toMatchObject(notFound)));
    expect(await list()).toMatchObject([{ id, disabledAt: null, previousSecret: null }]);
  });
});

describe('a new secret', () => {
  /** What a delivery is signed with, newest first. */
  async function signing(id: string): Promise<string[]> {
    const { secrets: stored } = await claimed(id);
    return stored.map((each) => secrets.open(each, placeOf.webhook(id)));
  }

  it('leaves the previous one to sign along for a while', async () => {
    const { id, secret: first } = await create();
    const { secret } = await service.rotateSecret(asker, id);
    expect(secret).not.toBe(first);
    const stored = await service.find(asker.actor.accountId, id);
    const place = placeOf.webhook(id);
    expect(secrets.open(stored.secret, place)).toBe(secret);
    expect(secrets.open(stored.previousSecret!, place)).toBe(first);
    expect(stored.previousSecretUntil!.getTime()).toBe(clock.nowMs() + webhooks.secretOverlapMs);
  });

  it('from rotations at once is that of the first', async () => {
    const { id, secret: first } = await create();
    const made = [1, 2].map(() => service.rotateSecret(asker, id));
    expect(await race(made)).toEqual({ succeeded: 1, refused: ['conflict'] });
    const secretsMade = (await Promise.allSettled(made)).map((each) =>
      each.status === 'fulfilled' ? each.value.secret : null,
    );
    const [current, previous] = await signing(id);
    expect(secretsMade).toContain(current);
    expect(previous).toBe(first);
  });

  it('is refused while two sign, until it is known which of them the receiver has', async () => {
    const { id, secret: first } = await create();
    const { secret: second, previousSecretUntil } = await service.rotateSecret(asker, id);
    const until = previousSecretUntil!.toISOString();
    await expect(service.rotateSecret(asker, id)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(`signs until ${until}`),
    });
    expect(await signing(id)).toEqual([second, first]);
  });

  it('within the same day leaves the one that the receiver has to sign along', async () => {
    const { id, secret: first } = await create();
    await service.rotateSecret(asker, id);
    clock.advance(webhooks.secretOverlapMs - 1);
    // The answer was lost, so the receiver still has the first one.
    const { secret: third, previousSecretUntil } = await service.rotateSecret(asker, id, 'previous');
    expect(await signing(id)).toEqual([third, first]);
    expect(previousSecretUntil!.getTime()).toBe(clock.nowMs() + webhooks.secretOverlapMs);
    // The receiver has been switched to the third one.
    const { secret: fourth } = await service.rotateSecret(asker, id, 'current');
    expect(await signing(id)).toEqual([fourth, third]);
    const until = new Date(clock.nowMs() + webhooks.secretOverlapMs);
    expect(await list()).toMatchObject([{ previousSecretUntil: until }]);
    clock.advance(webhooks.secretOverlapMs);
    expect(await list()).toMatchObject([{ previousSecretUntil: null }]);
    expect(await service.find(asker.actor.accountId, id)).toMatchObject({ previousSecretUntil: null });
    const { secret: last } = await service.rotateSecret(asker, id);
    expect(await signing(id)).toEqual([last, fourth]);
  });
});

describe('a removed endpoint', () => {
  it('is gone, once, and its deliveries end', async () => {
    const { id } = await create();
    expect(await race([1, 2].map(() => service.remove(asker, id)))).toEqual({
      succeeded: 1,
      refused: ['not_found'],
    });
    expect(await list()).toEqual([]);
    await expect(service.find(asker.actor.accountId, id)).rejects.toMatchObject(notFound);
    expect(await actionsOn(ledger, `webhook:${id}`)).toEqual(['webhook.created', 'webhook.deleted']);
  });
});
