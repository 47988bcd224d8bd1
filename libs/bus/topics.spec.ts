import { describe, expect, it } from 'vitest';
import type { Bus } from './bus.js';
import { InvalidMessage } from './bus.errors.js';
import { parseChaos } from './chaos.js';
import { Handles } from './handles.decorator.js';
import { decodePayload, encodeMessage } from './message.js';
import { outboxRow } from './outbox.js';
import { topic } from './topic.js';
import { ChargeRequested, type ChargeReply, type ChargeResolved } from './payloads.js';
import { allTopics, topics } from './topics.js';

const request: ChargeRequested = {
  chargeId: '01jd0000000000000000000000',
  accountId: '01jd0000000000000000000001',
  keyId: '01jd0000000000000000000002',
  model: 'vendora-imagine-image',
  requestedModel: 'vendora-imagine-image',
  group: 'Vendora-Main',
  units: '2',
  quotedAmount: '0.04',
  expiresAt: '2026-01-01T00:00:05.000Z',
  deadline: null,
  taskId: null,
  requestId: 'req-1',
};

const decode = (change: object) =>
  decodePayload(topics.chargeRequested, '1', JSON.stringify({ ...request, ...change }));

describe('topics', () => {
  it('have unique names', () => {
    expect(new Set(allTopics.map(({ name }) => name)).size).toBe(allTopics.length);
  });

  it('are keyed by account if they move money', () => {
    expect(encodeMessage(topics.chargeRequested, request).key).toBe(request.accountId);
  });

  it('survive being sent as text', () => {
    const decoded = decode({});
    expect(decoded).toBeInstanceOf(ChargeRequested);
    expect(decoded).toEqual(request);
  });

  it('accept fields that they do not know yet', () => {
    expect(decode({ later: 1 })).toMatchObject({ chargeId: request.chargeId });
  });

  it.each([
    ['an amount as a number', { quotedAmount: 0.04 }, 'quotedAmount must be a decimal as text'],
    ['an amount in scientific notation', { quotedAmount: '4e-2' }, 'quotedAmount must be a decimal as text'],
    ['a missing id', { chargeId: undefined }, 'chargeId must be a text'],
    ['an empty id', { accountId: '' }, 'accountId must be a text'],
    ['a time without a zone', { expiresAt: '2026-01-01T00:00:05' }, 'expiresAt must be a time'],
    ['an invalid date', { deadline: '2026-13-01T00:00:05Z' }, 'deadline must be a time'],
  ])('refuse %s', (_, change, rule) => {
    expect(() => decode(change)).toThrow(rule);
  });

  it('refuse another version, a list and a payload of megabytes', () => {
    expect(() => decodePayload(topics.chargeRequested, '2', '{}')).toThrow(InvalidMessage);
    expect(() => decodePayload(topics.chargeRequested, '1', '[]')).toThrow('not a JSON object');
    expect(() => encodeMessage(topics.chargeRequested, { ...request, model: 'x'.repeat(70_000) })).toThrow(
      'larger than 65536 bytes',
    );
  });

  it('refuse a declaration that contradicts itself', () => {
    const common = {
      name: 'x',
      about: 'A test',
      from: ['gateway'],
      version: 1,
      payload: ChargeRequested,
      partitions: 1,
      key: () => '',
      id: () => '',
    };
    expect(() => topic({ ...common, kind: 'request', groups: ['billing'] })).toThrow(
      'every request needs one',
    );
    expect(() => topic({ ...common, kind: 'request', reply: Object, groups: [] })).toThrow('exactly one');
    expect(() => Handles(topics.chargeSettled)).toThrow('charge.settled is not read by anyone');
  });

  it('do not compile with another payload, reply or kind', () => {
    // Never run: this tests the compiler.
    const mistakes = async (bus: Bus) => {
      // @ts-expect-error an amount is text
      await bus.request(topics.chargeRequested, { ...request, quotedAmount: 0.04 });
      // @ts-expect-error a request is not an event
      await bus.publish(topics.chargeRequested, request);
      // @ts-expect-error an event has no answer
      await bus.request(topics.videoCompleted, {});
      // @ts-expect-error a request does not wait in the outbox, where it would expire
      outboxRow(topics.chargeRequested, request);
      const reply: ChargeReply = await bus.request(topics.chargeRequested, request);
      return reply;
    };
    class Wrong {
      // @ts-expect-error the payload of another topic
      @Handles(topics.chargeRequested)
      async otherPayload(_: ChargeResolved): Promise<ChargeReply> {
        return { outcome: 'held', chargeId: '' };
      }

      // @ts-expect-error the reply of another topic
      @Handles(topics.chargeRequested)
      async otherReply(_: ChargeRequested): Promise<{ done: boolean }> {
        return { done: true };
      }
    }
    expect([mistakes, Wrong]).toHaveLength(2);
  });
});

describe('parseChaos', () => {
  it('reads the words of BUS_CHAOS', () => {
    expect(parseChaos('duplicate, reorder,drop-first-reply,seed=7,max-delay-ms=3')).toEqual({
      duplicate: true,
      reorder: true,
      dropFirstReply: true,
      seed: 7,
      maxDelayMs: 3,
    });
    expect(parseChaos('')).toBeUndefined();
    expect(parseChaos(undefined)).toBeUndefined();
    const rule = 'Configuration: BUS_CHAOS must be a comma list of duplicate, reorder,';
    for (const wrong of ['mayhem', 'duplicate,seed=x']) expect(() => parseChaos(wrong)).toThrow(rule);
  });
});
