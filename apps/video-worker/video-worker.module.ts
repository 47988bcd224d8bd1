import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { OutboxRelay } from '#bus/outbox.js';
import { ProgramReporter } from '#bus/program-reporter.js';
import { CatalogCache } from '#catalog/catalog.cache.js';
import { loadOpenCatalog } from '#catalog/channel-keys.js';
import { TaskQueue } from '#tasks/task-queue.store.js';
import { Upstreams } from '#upstream/adapters.js';
import { ChannelHealth } from '#upstream/health/channel-health.js';
import type { VideoWorkerModuleOptions } from './video-worker.options.js';
import { VideoWorker } from './video-worker.js';
import { WorkerMetrics } from './worker.metrics.js';
import { workerReporter } from './worker.report.js';

/** Starts the worker with the application, and stops it in order: its tasks, the outbox, its connections. */
@Injectable()
class BackgroundWork implements OnApplicationBootstrap, BeforeApplicationShutdown {
  @Inject(VideoWorker) private readonly worker!: VideoWorker;
  @Inject(OutboxRelay) private readonly relay!: OutboxRelay;
  @Inject(Upstreams) private readonly upstreams!: Upstreams;
  @Inject(ProgramReporter) private readonly reporter!: ProgramReporter;

  onApplicationBootstrap(): void {
    this.relay.start();
    this.worker.start();
    this.reporter.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.worker.stop();
    await this.reporter.stop();
    await this.relay.stop();
    await this.upstreams.close();
  }
}

/** Follows tasks upstream, stores their files, and publishes their ends. */
@Module({})
export class VideoWorkerModule {
  static register(options: VideoWorkerModuleOptions): DynamicModule {
    const { pool, bus, storage, config, log, registry, clock } = options;
    const pollMs = config.outboxPollMs;
    const relay = new OutboxRelay({ pool, bus, producer: 'worker', pollMs, log, registry });
    const queue = new TaskQueue(pool, clock, config.unclearCreateMs);
    const upstreams = new Upstreams();
    const health = channelHealth(options, { queue, upstreams });
    const loadCatalog = () => loadOpenCatalog(pool, { secrets: config.secrets, log });
    const catalog = new CatalogCache(loadCatalog, clock, config.catalogLifeMs);
    const metrics = new WorkerMetrics(registry, queue);
    const shared = { queue, catalog, upstreams, health, storage, config, metrics, log, clock };
    const worker = new VideoWorker({ ...shared, onEnded: () => relay.wake() });
    return {
      module: VideoWorkerModule,
      providers: [
        { provide: OutboxRelay, useValue: relay },
        { provide: Upstreams, useValue: upstreams },
        { provide: VideoWorker, useValue: worker },
        { provide: ProgramReporter, useValue: workerReporter(options, health) },
        BackgroundWork,
      ],
    };
  }
}

/** A vendor that does not list its models within this time is unhealthy. */
const PROBE_LIMIT_MS = 5_000;

/** The health of channels as polls see it. A channel that recovers gets its overdue tasks one by one, not all at once. */
function channelHealth(
  { config, clock, registry, log }: VideoWorkerModuleOptions,
  { queue, upstreams }: { queue: TaskQueue; upstreams: Upstreams },
): ChannelHealth {
  return new ChannelHealth({
    clock,
    registry,
    // The gateway's metrics may be in the same registry.
    metricPrefix: 'tollgate_worker_channel',
    failuresToOpen: config.channelFailuresToOpen,
    openMs: config.channelOpenMs,
    probe: (channel) => upstreams.probe(channel, PROBE_LIMIT_MS),
    onChange: (change) => {
      const { channel, model, state } = change;
      log[state === 'open' ? 'warn' : 'info'](change, 'the health of a channel changed');
      if (state !== 'closed' || model !== null) return;
      queue.spreadDue(channel, config.pollMaxMs).catch((error: unknown) => {
        log.warn({ err: error, channel }, 'the tasks of a channel come up all at once');
      });
    },
  });
}
