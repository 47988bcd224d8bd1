import pLimit from 'p-limit';
import { loadPriceBook } from '#catalog/catalog.store.js';
import type { ResolveCommand } from '#ledger/charges/charge.js';
import { PostingEngine } from '#ledger/charges/posting-engine.js';
import { newId } from '#platform/ids.js';
import type { PriceBook } from '#pricing/price-book.js';
import { quote } from '#pricing/quote.js';
import type { TokenCounts } from '#pricing/token-kinds.js';
import type { LeasedTask } from '#tasks/leased-task.js';
import { TaskQueue } from '#tasks/task-queue.store.js';
import { TaskStore } from '#tasks/task.store.js';
import type { Customer } from './customers.js';
import type { Dice } from './dice.js';
import type { MonthDatabase } from './month-database.js';

const AT_ONCE = 256;
const FAR = Date.parse('2100-01-01');
const REQUEST = { prompt: 'a boat' };
const FILE = { key: 'videos/month.mp4', bytes: 1_000, type: 'video/mp4', lifeMs: 1_500_000 };

interface Kind {
  model: string;
  group: 'Vendora-Main' | 'Public-Relay';
  channel: string;
  task: 'video' | '3d' | null;
  units: readonly [least: number, most: number];
  tokens?: boolean;
}

const KINDS: readonly Kind[] = [
  { model: 'imgmodel-4', group: 'Vendora-Main', channel: 'sandbox', task: null, units: [1, 4] },
  { model: 'imgmodel-4', group: 'Vendora-Main', channel: 'sandbox', task: null, units: [1, 4] },
  { model: 'imgmodel-lite', group: 'Public-Relay', channel: 'sandbox', task: null, units: [1, 1] },
  { model: 'vendora-speech', group: 'Vendora-Main', channel: 'sandbox', task: null, units: [1, 1] },
  {
    model: 'vendora-chat',
    group: 'Vendora-Main',
    channel: 'sandbox',
    task: null,
    units: [1, 1],
    tokens: true,
  },
  {
    model: 'vendora-imagine-video',
    group: 'Vendora-Main',
    channel: 'sandbox',
    task: 'video',
    units: [2, 10],
  },
  { model: 'vendora-3d', group: 'Vendora-Main', channel: 'sandbox-mesh3d', task: '3d', units: [1, 1] },
];

type Resolution = Omit<ResolveCommand, 'latencyMs' | 'upstreamStatus'>;

/** The customers' work: charges through the ledger's engine, and the tasks of videos and 3D assets. */
export class Work {
  /** Ids of settled charges, with their purpose. */
  readonly settled: { chargeId: string; customer: Customer }[] = [];
  refused = 0;
  released = 0;
  private engine: PostingEngine;
  private prices: PriceBook | undefined;
  /** Answers that upstreams still owe. */
  private open: Resolution[] = [];
  private readonly customers = new Map<string, Customer>();

  constructor(
    private readonly database: MonthDatabase,
    private readonly dice: Dice,
  ) {
    this.engine = this.newEngine();
  }

  /** Call this after each start of the server. */
  restart(): void {
    this.engine = this.newEngine();
    this.prices = undefined;
  }

  async stop(): Promise<void> {
    await this.engine.close();
  }

  /** The requests of one day; some continue the next day. `crash` is called in the middle of them. */
  async day(
    customers: readonly Customer[],
    count: number,
    crash: (() => Promise<void>) | null,
  ): Promise<void> {
    const limit = pLimit(AT_ONCE);
    const requests = Array.from({ length: count }, () => this.request(this.dice.favourite(customers)));
    const half = Math.floor(count / 2);
    await Promise.all(requests.slice(0, half).map((begin) => limit(begin)));
    const rest = Promise.all(requests.slice(half).map((begin) => limit(begin)));
    if (crash) await crash();
    await rest;
    await this.end(this.open.length > 20 ? this.open.length - 10 : 0);
    await this.endTasks(60);
  }

  /** Ends everything that is open. */
  async finish(): Promise<void> {
    await this.end(this.open.length);
    await this.endTasks(100);
  }

  /** A request is drawn now and made later, so that the draw does not depend on which answer comes first. */
  private request(customer: Customer): () => Promise<void> {
    const kind = this.dice.one(KINDS);
    const units = BigInt(this.dice.between(...kind.units));
    const fate = this.dice.chance();
    const delivered = BigInt(this.dice.between(1, Number(units)));
    const twice = this.dice.percent(5);
    return async () => {
      const chargeId = newId();
      this.customers.set(customer.accountId, customer);
      const held = await this.hold(customer, kind, { chargeId, units, twice });
      if (!held || kind.task) return;
      const resolution: Resolution = {
        chargeId,
        accountId: customer.accountId,
        channel: kind.channel,
        outcome: fate < 0.07 ? 'failed' : 'delivered',
        deliveredUnits: delivered,
        deliveredTokens: kind.tokens ? used(fate) : null,
        reason: fate < 0.07 ? 'upstream_failed' : null,
      };
      if (fate > 0.98) this.open.push(resolution);
      else await this.resolve(resolution, twice);
    };
  }

  private async hold(
    customer: Customer,
    kind: Kind,
    { chargeId, units, twice }: { chargeId: string; units: bigint; twice: boolean },
  ): Promise<boolean> {
    const { model, group } = kind;
    const tokens = kind.tokens ? { input: 20_000n, cachedInput: 0n, output: 4_000n } : null;
    const book = (this.prices ??= await this.database.retried(() => loadPriceBook(this.database.billing)));
    const priced = quote(book, { model, group, units, tokens, atMs: FAR });
    if (typeof priced === 'string') throw new Error(`${model} has no price: ${priced}`);
    const keyId = group === 'Public-Relay' ? customer.cheapKeyId : customer.keyId;
    const taskId =
      kind.task === null ? null : await this.createTask(customer, kind, { chargeId, units, keyId });
    const command = {
      chargeId,
      accountId: customer.accountId,
      keyId,
      model,
      requestedModel: model,
      group,
      units,
      tokens,
      quotedAmount: priced.amount,
      expiresAtMs: FAR,
      deadlineMs: taskId ? null : FAR,
      taskId,
      requestId: `req-${chargeId}`,
      clientIp: null,
    };
    const held = await this.database.retried(() => this.engine.hold(command));
    if (twice) await this.database.retried(() => this.engine.hold(command));
    if (held.outcome === 'refused') this.refused += 1;
    if (taskId !== null) await this.moveTask(taskId, kind, held.outcome === 'held' ? held.amount : null);
    return held.outcome === 'held';
  }

  private async createTask(
    { accountId }: Customer,
    { task, model, group }: Kind,
    { chargeId, units, keyId }: { chargeId: string; units: bigint; keyId: string },
  ): Promise<string> {
    const id = newId();
    await this.database.retried(() =>
      new TaskStore(this.database.gateway).insertCreated({
        id,
        kind: task ?? 'video',
        accountId,
        keyId,
        group,
        limits: undefined,
        chargeId,
        dialect: 'openai',
        modelId: model,
        requestedModel: model,
        request: REQUEST,
        seconds: Number(units),
        deadlineMs: 60 * 86_400_000,
      }),
    );
    return id;
  }

  private async moveTask(id: string, kind: Kind, heldAmount: bigint | null): Promise<void> {
    const store = new TaskStore(this.database.gateway);
    if (heldAmount === null) {
      await this.database.retried(() => store.toRefused(id, { code: 'refused', message: 'No balance.' }));
      return;
    }
    const target = { channelId: kind.channel, channelKey: 'mark', upstreamModel: kind.model };
    await this.database.retried(() =>
      store.toSubmitting(id, { ...target, heldAmount: heldAmount as never, request: REQUEST }),
    );
    await this.database.retried(() => store.toSubmitted(id, { upstreamId: `up-${id}`, firstPollMs: 0 }));
  }

  private async end(count: number): Promise<void> {
    const due = this.open.splice(0, count);
    const limit = pLimit(AT_ONCE);
    await Promise.all(due.map((resolution) => limit(() => this.resolve(resolution, false))));
  }

  /** The worker claims due tasks and ends some of them. It releases the rest for the next day. */
  private async endTasks(percent: number): Promise<void> {
    const queue = new TaskQueue(this.database.worker);
    const places = new Map(['sandbox', 'sandbox-mesh3d'].map((channel) => [channel, 1_000]));
    const claimed = await this.database.retried(() =>
      queue.claimDue(places, { limit: 2_000, leaseMs: 86_400_000 }),
    );
    const limit = pLimit(32);
    await Promise.all(
      this.dice.shuffled(claimed).map((task, index) => {
        const fails = this.dice.percent(12);
        const ends = index < (claimed.length * percent) / 100;
        return limit(() => (ends ? this.endTask(queue, task, fails) : this.giveBack(queue, task)));
      }),
    );
  }

  private async giveBack(queue: TaskQueue, task: LeasedTask): Promise<void> {
    await queue.reschedule(task, { inMs: 0, progress: 50 });
  }

  private async endTask(queue: TaskQueue, task: LeasedTask, fails: boolean): Promise<void> {
    const failure = { code: 'generation_failed', message: 'The upstream failed.' } as const;
    await this.database.retried(() => (fails ? queue.fail(task, failure, null) : queue.complete(task, FILE)));
    await this.resolve(
      {
        chargeId: task.chargeId,
        accountId: task.accountId,
        channel: task.channelId,
        outcome: fails ? 'failed' : 'delivered',
        deliveredUnits: null,
        reason: fails ? 'generation_failed' : null,
      },
      this.dice.percent(5),
    );
  }

  private async resolve(resolution: Resolution, twice: boolean): Promise<void> {
    const command = { ...resolution, upstreamStatus: 200, latencyMs: 50 };
    const result = await this.database.retried(() => this.engine.resolve(command));
    if (twice) await this.database.retried(() => this.engine.resolve(command));
    if (result.outcome === 'released') this.released += 1;
    const customer = this.customers.get(resolution.accountId);
    if (result.outcome === 'settled' && result.settled > 0n && customer) {
      this.settled.push({ chargeId: resolution.chargeId, customer });
    }
  }

  private newEngine(): PostingEngine {
    return new PostingEngine({ pool: this.database.billing, loadPriceBook, log: this.database.log });
  }
}

/** How many of a chat's held tokens are used. */
function used(fate: number): TokenCounts {
  return {
    input: BigInt(Math.floor(fate * 20_000)),
    cachedInput: 0n,
    output: BigInt(Math.floor(fate * 4_000)),
  };
}
