import { Controller, type INestMicroservice } from '@nestjs/common';
import type { Bus } from '#bus/bus.js';
import { Handles } from '#bus/handles.decorator.js';
import { InProcessTransport } from '#bus/in-process/in-process.transport.js';
import { type ChargeReply, ChargeRequested, ChargeResolved, type ResolvedReply } from '#bus/payloads.js';
import { groups, topics } from '#bus/topics.js';
import { holdCommand, holdReply, resolveCommand, resolveReply } from '#ledger/charges/charge.commands.js';
import { Registry } from '#platform/metrics.js';
import { busOn, startProgram } from '../../../test/support/bus.js';
import { type EngineFixture, openEngine } from '../../../test/support/ledger-person.js';

/** The billing side of a gateway: a real engine on a real ledger, behind an in-process bus. */
export class BillingUnderTest {
  /** Runs when billing receives a request, before it decides. Throw to make it fail. */
  beforeHold!: (asked: ChargeRequested) => Promise<void>;
  /** What is answered to a request. */
  says!: (reply: ChargeReply) => ChargeReply;
  beforeEnd!: (resolution: ChargeResolved) => Promise<void>;
  private program!: INestMicroservice;

  private constructor(
    readonly under: EngineFixture,
    private readonly transport: InProcessTransport,
  ) {
    this.reset();
  }

  static async start(): Promise<BillingUnderTest> {
    const under = await openEngine();
    const transport = new InProcessTransport({
      groups: [groups.billing],
      topics: [topics.chargeRequested, topics.chargeResolved],
      log: under.ledger.log,
      registry: new Registry(),
    });
    const billing = new BillingUnderTest(under, transport);
    billing.program = await startProgram(transport, [controllerOf(billing)], { groups: [groups.billing] });
    return billing;
  }

  reset(): void {
    this.beforeHold = this.beforeEnd = async () => undefined;
    this.says = (reply) => reply;
  }

  /** The caller closes it. */
  bus(requestTimeoutMs: number): Bus {
    return busOn(this.transport, { requestTimeoutMs });
  }

  /** @throws Error if the ledger is not clean */
  async close(): Promise<void> {
    await this.program.close();
    await this.transport.close();
    await this.under.close();
  }
}

function controllerOf(billing: BillingUnderTest) {
  const { engine } = billing.under;

  @Controller()
  class Money {
    @Handles(topics.chargeRequested)
    async requested(asked: ChargeRequested): Promise<ChargeReply> {
      await billing.beforeHold(asked);
      return billing.says(holdReply(asked.chargeId, await engine.hold(holdCommand(asked))));
    }

    @Handles(topics.chargeResolved)
    async resolved(resolution: ChargeResolved): Promise<ResolvedReply> {
      await billing.beforeEnd(resolution);
      return resolveReply(await engine.resolve(resolveCommand(resolution)));
    }
  }
  return Money;
}
