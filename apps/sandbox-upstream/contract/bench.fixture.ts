import { systemClock } from '#platform/clock.js';
import type { Readable } from 'node:stream';
import type { Channel } from '#catalog/catalog.js';
import { type ChannelProtocol, Upstreams } from '#upstream/adapters.js';
import { FileUnavailable } from '#upstream/file-download.js';
import type { Capability, UpstreamAdapter } from '#upstream/protocol.js';
import type { StubUpstream } from '#upstream/upstream.fixture.js';
import { SandboxUnderTest } from '../sandbox.fixture.js';
import { frontWords, startFront } from './front.fixture.js';
import { vendorContracts } from './vendors.fixture.js';

/** How long a call of a case may take. Calls that are never answered are aborted once the vendor has received them. */
export const CALL_MS = 20_000;
/** Longer than any case, and shorter than the sandbox keeps its files. */
const LONG_WORK_SECONDS = 600;
/** Longer than the sandbox keeps its files. */
const EXPIRY_MS = 2 * 3_600_000;

const unanswered: readonly string[] = ['accept-then-timeout', 'never-finish', 'repeat'];
/** A task that never finishes is accepted with an answer. */
const tasks: readonly Capability[] = ['videos', 'silentVideos', 'videoRemixes', 'assets3d'];
/** What a driver causes by itself. Everything else is a fault that the prompt requests. */
const ownWords: readonly string[] = [
  'nothing',
  'whole',
  'wrong-key',
  'unknown-task',
  'unknown-video',
  'leave',
  'drop',
  ...frontWords,
];

/** One case of one operation over one protocol. */
export interface CaseOf {
  protocol: ChannelProtocol;
  operation: Capability;
  happens: string;
}

/** The sandbox, and the adapters that call it. */
export class Bench {
  private shiftMs = 0;
  private calls = 0;
  /** Gives up the last unanswered call. */
  private given: AbortController | undefined;
  readonly upstreams = new Upstreams();
  private account: Record<string, unknown> = {};
  private front!: StubUpstream;
  sandbox!: SandboxUnderTest;

  static async start(): Promise<Bench> {
    const bench = new Bench();
    bench.sandbox = await SandboxUnderTest.start({
      clock: { ...systemClock, nowMs: () => Date.now() + bench.shiftMs },
    });
    bench.front = await startFront();
    bench.account = await bench.sandbox.read('/_sandbox/service-account');
    return bench;
  }

  async close(): Promise<void> {
    this.given?.abort();
    await this.upstreams.close();
    await this.front.close();
    await this.sandbox.close();
  }

  adapter({ protocol }: CaseOf): UpstreamAdapter {
    return this.upstreams.adapterFor(protocol);
  }

  channel({ protocol, happens }: CaseOf): Channel {
    const keys = this.keysOf(protocol);
    const apiKey = happens === 'wrong-key' ? keys.wrong : keys.right;
    const origin = frontWords.includes(happens) ? `${this.front.url}/${happens}` : this.sandbox.url;
    return {
      id: protocol,
      protocol,
      baseUrl: origin + (vendorContracts[protocol].basePath ?? ''),
      apiKey,
      apiKeys: happens === 'two-keys' ? [apiKey, keys.another] : [apiKey],
      webhookSecret: null,
      enabled: true,
      priority: 0,
      weight: 1,
      requestTimeoutMs: CALL_MS,
      allowPrivateAddress: true,
      honoursIdempotency: true,
      maxConcurrency: null,
      models: new Map(),
      costs: new Map(),
      groups: new Set(),
    };
  }

  private keysOf(protocol: ChannelProtocol) {
    if (!vendorContracts[protocol].hasAccounts)
      return { right: 'sandbox-key', wrong: 'stale', another: 'another-key' };
    const written = (changed: object) => JSON.stringify({ ...this.account, ...changed });
    return {
      right: written({}),
      wrong: written({ client_email: 'nobody@sandbox-project.iam.gserviceaccount.com' }),
      another: written({ private_key_id: 'another' }),
    };
  }

  model({ protocol, operation }: CaseOf): string {
    return vendorContracts[protocol].models?.[operation] ?? 'their-model';
  }

  /** An idempotency key for a creation, unique to the case. */
  nextKey(): string {
    this.calls += 1;
    return `case-${this.calls}`;
  }

  /** A signal for the next call. The previous one has ended. */
  async signal({ operation, happens }: CaseOf): Promise<AbortSignal> {
    this.given?.abort();
    const isAnswered =
      !unanswered.includes(happens) || (happens === 'never-finish' && tasks.includes(operation));
    if (isAnswered) return AbortSignal.timeout(CALL_MS);
    const given = new AbortController();
    this.given = given;
    void this.untilMoreThan(await this.callsAtVendor(), given.signal)
      .catch(() => undefined)
      .finally(() => given.abort(new DOMException('The call took too long.', 'TimeoutError')));
    return AbortSignal.any([given.signal, AbortSignal.timeout(CALL_MS)]);
  }

  /** Waits until another call is pending or polls its work. */
  private async untilMoreThan(calls: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await this.callsAtVendor()) <= calls);
  }

  /** One of the vendor's counters. */
  async statistic(name: string): Promise<number> {
    return (await this.sandbox.read('/_sandbox/stats'))[name] as number;
  }

  /** Runs a case. If the status of a task is also its result, no end can come before it. */
  async outcomeOf({ happens }: CaseOf, run: () => Promise<string>): Promise<string> {
    if (happens !== 'early-end') return run();
    const before = await this.spoiledPolls();
    const outcome = await run();
    return (await this.spoiledPolls()) > before ? outcome : 'not applicable';
  }

  private async spoiledPolls(): Promise<number> {
    const { tasks } = await this.sandbox.read('/_sandbox/tasks');
    return (tasks as { spoiledPolls: number }[]).reduce((sum, task) => sum + task.spoiledPolls, 0);
  }

  private async callsAtVendor(): Promise<number> {
    const { unanswered: waiting, polls } = await this.sandbox.read('/_sandbox/stats');
    return (waiting as number) + (polls as number);
  }

  /** Whether the channel's second key is used after its first was rate limited. */
  keyText(each: CaseOf): string {
    const [next] = this.upstreams.serving([this.channel(each)], each.operation);
    return next?.apiKey === this.keysOf(each.protocol).another ? ', the other key is next' : '';
  }

  /** Makes all work in progress end now. */
  letWorkEnd(): void {
    this.shiftMs += LONG_WORK_SECONDS * 1000;
  }

  /** Makes the vendor's results expire now. */
  letFilesExpire(): void {
    this.shiftMs += EXPIRY_MS;
  }
}

/** What makes a case happen, in addition to what its driver does. */
export function promptOf({ operation, happens }: CaseOf): string {
  // Even on a slow machine, the first poll comes before the end.
  if (happens === 'nothing' && tasks.includes(operation)) return `a fox [[work:${LONG_WORK_SECONDS}]]`;
  if (ownWords.includes(happens)) return 'a fox';
  if (happens === 'give-up') return '[[fault:never-finish]] [[work:3600]]';
  if (happens === 'expired') return 'a fox [[work:0]]';
  if (happens === 'two-keys') return '[[fault:reject-429]]';
  if (happens === 'repeat') return '[[fault:accept-then-timeout]] [[work:0]]';
  return `[[fault:${happens}]] [[work:0]]`;
}

export async function bytesOf(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** What a file is, or that it cannot be had. */
export async function fileText(open: () => Promise<string>): Promise<string> {
  try {
    return await open();
  } catch (error) {
    const isBroken = error instanceof FileUnavailable || (error as { code?: string }).code !== undefined;
    if (isBroken) return 'not downloadable';
    throw error;
  }
}
