import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller, type INestMicroservice } from '@nestjs/common';
import { InProcessTransport } from '#bus/in-process/in-process.transport.js';
import { Handles } from '#bus/handles.decorator.js';
import { type ChargeReply, type ResolvedReply, TaskEnded } from '#bus/payloads.js';
import { topics } from '#bus/topics.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '#apps/sandbox-upstream/sandbox-server.js';
import { CatalogCache } from '#catalog/catalog.cache.js';
import { loadCatalog } from '#catalog/catalog.store.js';
import { type Channel, keyMark } from '#catalog/catalog.js';
import { configureSandboxChannel } from '#catalog/catalog.seed.js';
import { systemClock } from '#platform/clock.js';
import { SecretBox } from '#platform/sealed-secret.js';
import { Registry } from '#platform/metrics.js';
import { FolderStore } from '#storage/folder.store.js';
import type { NewTask } from '#tasks/task.store.js';
import { Upstreams } from '#upstream/adapters.js';
import type { CreateOutcome } from '#upstream/outcomes.js';
import { videoRequestOf } from '#upstream/video-request.js';
import { TasksUnderTest } from '#tasks/tasks.fixture.js';
import { silent, startProgram, until } from '../../test/support/bus.js';
import { type VideoWorkerConfig } from './video-worker.config.js';
import { type RunningVideoWorker, startVideoWorker } from './video-worker.program.js';

const QUICK: VideoWorkerConfig = {
  secrets: new SecretBox([]),
  concurrency: 16,
  copyConcurrency: 16,
  pollIntervalMs: 20,
  pollMaxMs: 60,
  channelFailuresToOpen: 5,
  channelOpenMs: 100,
  leaseMs: 60_000,
  sweepIntervalMs: 40,
  stuckAfterMs: 60_000,
  unclearCreateMs: 60_000,
  videoFileLifeMs: 1_500_000,
  imageUrlLifeMs: 3_600_000,
  idempotencyLifeMs: 86_400_000,
  copyAttempts: 3,
  copyBackoffMs: 20,
  catalogLifeMs: 30_000,
  reportMs: 5_000,
  outboxPollMs: 50,
};

export interface RunningWorker extends RunningVideoWorker {
  registry: Registry;
  /** The value of a metric with these labels. */
  metric(name: string, labels?: Record<string, string>): Promise<number>;
}

/** The worker with a real database, the sandbox upstream, and a billing that only listens. */
export class WorkerUnderTest {
  readonly ended: TaskEnded[] = [];
  readonly storage: FolderStore;
  private readonly folder = mkdtempSync(join(tmpdir(), 'video-worker-'));
  private readonly upstreams = new Upstreams();
  private readonly workers = new Set<RunningWorker>();
  private transport!: InProcessTransport;
  private billing!: INestMicroservice;

  private constructor(
    readonly tasks: TasksUnderTest,
    public sandbox: Sandbox,
  ) {
    this.storage = new FolderStore(this.folder);
  }

  static async start(options: SandboxOptions = {}): Promise<WorkerUnderTest> {
    const tasks = await TasksUnderTest.start();
    const sandbox = await startSandbox({ videoSeconds: 0.1, slowSeconds: 30, ...options });
    const under = new WorkerUnderTest(tasks, sandbox);
    await under.pointChannelTo(sandbox);
    await under.startBilling();
    return under;
  }

  async close(): Promise<void> {
    for (const worker of this.workers) await worker.close();
    await this.billing.close();
    await this.transport.close();
    await this.upstreams.close();
    await this.sandbox.close();
    await this.tasks.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async worker(overrides: Partial<VideoWorkerConfig> = {}): Promise<RunningWorker> {
    const registry = new Registry();
    const running = await startVideoWorker({
      pool: this.tasks.worker,
      transport: this.transport,
      storage: this.storage,
      config: { ...QUICK, ...overrides },
      log: silent,
      registry,
    });
    const worker: RunningWorker = {
      checks: running.checks,
      registry,
      metric: (name, labels) => metricOf(registry, name, labels),
      close: async () => {
        this.workers.delete(worker);
        await running.close();
      },
    };
    this.workers.add(worker);
    return worker;
  }

  async pointChannelTo(sandbox: Sandbox): Promise<void> {
    await configureSandboxChannel(this.tasks.owner, { baseUrl: sandbox.url, apiKey: 'sandbox-key' });
  }

  async channel(): Promise<Channel> {
    const catalog = await new CatalogCache(() => loadCatalog(this.tasks.gateway), systemClock, 0).get();
    const [channel] = catalog.channels;
    if (!channel) throw new Error('no channel');
    return channel;
  }

  /** Creates a task at the upstream as the gateway would, giving up after `limitMs`. */
  async callUpstream(task: NewTask, limitMs = 60_000): Promise<CreateOutcome> {
    const channel = await this.channel();
    const signal = AbortSignal.timeout(limitMs);
    const request = videoRequestOf({ ...task, upstreamModel: task.modelId });
    return this.upstreams
      .adapterFor(channel.protocol)
      .createVideo(channel, request, { idempotencyKey: task.id, signal });
  }

  /** A task that is being created with the key of the channel. */
  async submitting(overrides: Partial<NewTask> = {}): Promise<NewTask> {
    return this.tasks.submitting({ channelKey: keyMark(await this.channel()), ...overrides });
  }

  /** A task accepted by the sandbox, due now. */
  async accepted(prompt: string, overrides: Partial<NewTask> = {}): Promise<NewTask> {
    const task = await this.submitting({ request: { prompt }, ...overrides });
    const outcome = await this.callUpstream(task);
    if (outcome.kind !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(outcome)}`);
    await this.tasks.store.toSubmitted(task.id, { upstreamId: outcome.upstreamId, firstPollMs: 0 });
    return task;
  }

  /** Waits until billing receives a task's end, and returns it. */
  async endOf(task: { id: string }): Promise<TaskEnded> {
    const heard = () => this.ended.filter(({ taskId }) => taskId === task.id);
    await until(`task ${task.id} ended`, () => heard().length > 0);
    const [first] = heard();
    if (!first) throw new Error('unreachable');
    return first;
  }

  async stats(): Promise<Record<string, number>> {
    return (await (await fetch(`${this.sandbox.url}/_sandbox/stats`)).json()) as Record<string, number>;
  }

  private async startBilling(): Promise<void> {
    const { ended } = this;
    @Controller()
    class ListeningBilling {
      @Handles(topics.videoCompleted)
      async taskEnded(message: TaskEnded): Promise<void> {
        ended.push(message);
      }

      @Handles(topics.chargeRequested)
      async charge(): Promise<ChargeReply> {
        throw new Error('nobody asks here');
      }

      @Handles(topics.chargeResolved)
      async resolved(): Promise<ResolvedReply> {
        throw new Error('nobody asks here');
      }
    }
    this.transport = new InProcessTransport({ groups: ['billing'], log: silent, registry: new Registry() });
    this.billing = await startProgram(this.transport, [ListeningBilling], { groups: ['billing'] });
  }
}

async function metricOf(
  registry: Registry,
  name: string,
  labels: Record<string, string> = {},
): Promise<number> {
  const metric = await registry.getSingleMetric(name)?.get();
  const matching = metric?.values.filter(({ labels: own }) =>
    Object.entries(labels).every(([label, value]) => own[label] === value),
  );
  return (matching ?? []).reduce((sum, { value }) => sum + value, 0);
}
