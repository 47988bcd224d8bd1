import { describe, expect, it } from 'vitest';
import { Registry } from '#platform/metrics.js';
import { busContract } from '../../../test/support/bus-contract.js';
import {
  ask,
  busOn,
  gate,
  listOfTestTopics,
  silent,
  startProgram,
  testTopics,
  Till,
  tillController,
  until,
} from '../../../test/support/bus.js';
import { BusTimeout, BusUnavailable } from '../bus.errors.js';
import type { InProcessOptions } from './in-process.broker.js';
import { InProcessTransport } from './in-process.transport.js';

function createTransport(options: Partial<InProcessOptions> = {}): InProcessTransport {
  return new InProcessTransport({
    groups: ['till', 'door'],
    log: silent,
    registry: new Registry(),
    topics: listOfTestTopics,
    backoff: { initialMs: 1, maxMs: 5 },
    ...options,
  });
}

describe('InProcessTransport', () => {
  busContract(() => createTransport());

  it('runs handlers together, so that the ledger can commit them together', async () => {
    const transport = createTransport();
    const till = new Till();
    const all = gate();
    till.work = async () => {
      if (till.seen.length === 64) all.open();
      await all.opened;
    };
    const program = await startProgram(transport, [tillController(till)], { groups: ['till'] });
    const bus = busOn(transport);
    await Promise.all(Array.from({ length: 64 }, (_, number) => bus.request(testTopics.asked, ask(number))));
    await program.close();
    await transport.close();
  });

  it('keeps messages for a group that does not listen yet', async () => {
    const transport = createTransport();
    const till = new Till();
    const bus = busOn(transport);
    const answer = bus.request(testTopics.asked, ask(4));
    const program = await startProgram(transport, [tillController(till)], { groups: ['till'] });
    expect((await answer).doubled).toBe(8);
    await program.close();
    await transport.close();
  });

  it('resolves a publication only once it was handled', async () => {
    const transport = createTransport();
    const till = new Till();
    const blocked = gate();
    till.work = async () => blocked.opened;
    const program = await startProgram(transport, [tillController(till)], { groups: ['till'] });
    const bus = busOn(transport);
    const payload = ask(1);
    await expect(bus.publish(testTopics.told, payload, { timeoutMs: 20 })).rejects.toThrow(BusTimeout);
    blocked.open();
    await bus.publish(testTopics.told, payload);
    expect(till.seen).toHaveLength(2);
    await program.close();
    await transport.close();
  });

  it('refuses messages if too many are waiting', async () => {
    const transport = createTransport({ limits: { inFlight: 1, waiting: 2 }, drainTimeoutMs: 10 });
    const bus = busOn(transport);
    const waiting = Promise.allSettled([1, 2].map((number) => bus.request(testTopics.asked, ask(number))));
    await expect(bus.request(testTopics.asked, ask(3))).rejects.toThrow(BusUnavailable);
    await transport.close();
    for (const outcome of await waiting) expect(outcome.status).toBe('rejected');
  });

  it('refuses a request that no program in the process answers', async () => {
    const transport = createTransport({ groups: ['door'] });
    await expect(busOn(transport).request(testTopics.asked, ask(1))).rejects.toThrow(BusUnavailable);
    await transport.close();
  });

  it('finishes what is in progress before it closes', async () => {
    const transport = createTransport();
    const till = new Till();
    const blocked = gate();
    till.work = async () => blocked.opened;
    const program = await startProgram(transport, [tillController(till)], { groups: ['till'] });
    const answer = busOn(transport).request(testTopics.asked, ask(6));
    await until('it has arrived', () => till.seen.length === 1);
    const closing = program.close();
    blocked.open();
    await closing;
    expect((await answer).doubled).toBe(12);
    await transport.close();
    await expect(busOn(transport).request(testTopics.asked, ask(6))).rejects.toThrow(BusUnavailable);
  });

  it('reports its lag', async () => {
    const registry = new Registry();
    const transport = createTransport({ registry, drainTimeoutMs: 10 });
    const lost = busOn(transport)
      .publish(testTopics.told, ask(1))
      .catch(() => undefined);
    const lag = /bus_consumer_lag\{topic="test.told",group="till",partition="\d"\} 1/;
    await until('the lag is 1', async () => lag.test(await registry.metrics()));
    await transport.close();
    await lost;
  });
});
