import {
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type Provider,
} from '@nestjs/common';
import { OutboxRelay } from '#bus/outbox.js';
import { ProgramReporter } from '#bus/program-reporter.js';
import { CatalogCache } from '#catalog/catalog.cache.js';
import { loadOpenCatalog } from '#catalog/channel-keys.js';
import { KeyAuthenticator } from '#identity/key-authenticator.js';
import type { ReadinessChecks } from '#platform/health.js';
import { Uploads } from '#platform/http/uploads.js';
import type { Loop } from '#platform/loop.js';
import { FileStore } from '#storage/file-store.js';
import { TaskListing } from '#tasks/task-listing.store.js';
import { TaskStore } from '#tasks/task.store.js';
import { Upstreams } from '#upstream/adapters.js';
import { CallerAccountController } from './account/account.controller.js';
import { CallerAccount } from './account/account.reader.js';
import { OpenAiBillingController } from './account/openai-billing.controller.js';
import { AssetOrders } from './assets/asset.orders.js';
import { AssetLibrary } from './assets/asset.library.js';
import { AssetsController } from './assets/assets.controller.js';
import { CacheEventsController } from './cache-events.controller.js';
import { ChargedCalls } from './charging/charged-call.js';
import { ChargeService } from './charging/charge.service.js';
import { ResolutionPost } from './charging/resolution.post.js';
import { ConversationService } from './conversation/conversation.service.js';
import { ConversationsController } from './conversation/conversations.controller.js';
import { TranscriptionsController } from './transcriptions/transcriptions.controller.js';
import { watchedChannels } from './gateway.channels.js';
import { GatewayMetrics } from './gateway.metrics.js';
import type { GatewayModuleOptions } from './gateway.options.js';
import { gatewayReporter } from './gateway.report.js';
import { CHANNEL_CHECKS, GATEWAY_CLOCK, GATEWAY_CONFIG } from './gateway.tokens.js';
import { ContentsController } from './google/contents.controller.js';
import { GoogleModelsController } from './google/google-models.controller.js';
import { GoogleOperationsController } from './google/google-operations.controller.js';
import { GoogleController } from './google/google.controller.js';
import { ImageFiles } from './images/image.files.js';
import { KeptImages } from './images/kept-images.js';
import { ImageService } from './images/image.service.js';
import { ImagesController } from './images/images.controller.js';
import { ImageLoader } from './images/image.loader.js';
import { ImageReader } from './images/image.reader.js';
import { MAX_IMAGE_PIXELS, IMAGE_READ_MS } from './http/limits.js';
import { BodyMemory } from './protection/body-memory.js';
import { ConcurrencyLimiter } from './protection/concurrency-limiter.js';
import { FailedKeys } from './protection/failed-keys.js';
import { Idempotency } from './protection/idempotency.js';
import { IdempotencyStore } from './protection/idempotency.store.js';
import { RequestLimiter } from './protection/request-limiter.js';
import { ModelsController } from './models/models.controller.js';
import { ApiDocument } from './openapi/openapi.document.js';
import { DocsController } from './openapi/openapi.controller.js';
import { TaskCreator } from './tasks/task.creation.js';
import { VendorWebhooksController } from './tasks/vendor-webhooks.controller.js';
import { VendorWebhookInbox } from './tasks/vendor-webhooks.js';
import { TokenCountController } from './tokens/token-count.controller.js';
import { TokenCounter } from './tokens/token-counter.js';
import { RemixesController } from './videos/remixes.controller.js';
import { VideoOrders } from './videos/video.orders.js';
import { RemixOrders } from './videos/remix.orders.js';
import { VideoLibrary } from './videos/video.library.js';
import { VideosController } from './videos/videos.controller.js';

/** Starts the gateway's background work with the application, and ends it once no request is in progress. */
@Injectable()
class BackgroundWork implements OnApplicationBootstrap, OnApplicationShutdown {
  @Inject(OutboxRelay) private readonly relay!: OutboxRelay;
  @Inject(ResolutionPost) private readonly post!: ResolutionPost;
  @Inject(Upstreams) private readonly upstreams!: Upstreams;
  @Inject(ImageReader) private readonly images!: ImageReader;
  @Inject(Idempotency) private readonly idempotency!: Idempotency;
  @Inject(RequestLimiter) private readonly limiter!: RequestLimiter;
  @Inject(ConversationService) private readonly conversations!: ConversationService;
  @Inject(ProgramReporter) private readonly reporter!: ProgramReporter;
  @Inject(CHANNEL_CHECKS) private readonly checking!: Loop | null;

  onApplicationBootstrap(): void {
    this.relay.start();
    this.idempotency.start();
    this.limiter.start();
    this.reporter.start();
    this.checking?.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.conversations.finished();
    await this.checking?.stop();
    await this.reporter.stop();
    await this.idempotency.stop();
    await this.limiter.stop();
    await this.post.close();
    await this.relay.stop();
    await this.upstreams.close();
    await this.images.close();
  }
}

/** The data plane: authenticates, prices, holds, calls upstreams, and resolves charges. */
@Module({})
export class GatewayModule {
  static register(options: GatewayModuleOptions): DynamicModule {
    return {
      module: GatewayModule,
      controllers: [
        ModelsController,
        ImagesController,
        VideosController,
        RemixesController,
        AssetsController,
        GoogleController,
        ContentsController,
        GoogleOperationsController,
        GoogleModelsController,
        ConversationsController,
        TranscriptionsController,
        TokenCountController,
        CallerAccountController,
        OpenAiBillingController,
        VendorWebhooksController,
        DocsController,
        CacheEventsController,
      ],
      providers: [...providersOf(options), BackgroundWork],
    };
  }
}

/** Ready if a request can be charged and its result stored. */
export function gatewayReadiness(
  options: Pick<GatewayModuleOptions, 'pool' | 'bus' | 'storage'>,
): ReadinessChecks {
  return {
    database: async () => {
      await options.pool.query('SELECT 1');
    },
    bus: () => options.bus.health(),
    storage: () => options.storage.check(),
  };
}

function imageReader({ config, clock }: Pick<GatewayModuleOptions, 'config' | 'clock'>): ImageReader {
  return new ImageReader({
    clock,
    threads: config.imageThreads,
    limitMs: IMAGE_READ_MS,
    maxPixels: MAX_IMAGE_PIXELS,
  });
}

function uploadsOf({ config, registry }: Pick<GatewayModuleOptions, 'config' | 'registry'>): Uploads {
  return new Uploads({
    rules: config.uploads,
    registry,
    program: 'gateway',
    membersOf: ({ caller }) => (caller ? [caller.accountId] : []),
  });
}

/** Shares the gateway fairly among its callers. */
function limitersOf(
  options: GatewayModuleOptions,
  { limiter, failedKeys }: { limiter: RequestLimiter; failedKeys: FailedKeys },
): Provider[] {
  const { config, registry, clock } = options;
  const { defaultLimits: defaults } = config;
  return [
    { provide: BodyMemory, useValue: new BodyMemory(config.bodyMemoryBytes, { registry, clock }) },
    { provide: Uploads, useValue: uploadsOf(options) },
    { provide: RequestLimiter, useValue: limiter },
    { provide: ConcurrencyLimiter, useValue: new ConcurrencyLimiter(defaults) },
    { provide: FailedKeys, useValue: failedKeys },
  ];
}

/** The steps that every call goes through. */
function coreOf(options: GatewayModuleOptions) {
  const { pool, bus, storage, config, log, registry, clock } = options;
  const metrics = new GatewayMetrics(registry);
  const loadCatalog = () => loadOpenCatalog(pool, { secrets: config.secrets, log });
  const catalog = new CatalogCache(loadCatalog, clock, config.catalogLifeMs);
  const pollMs = config.outboxPollMs;
  const relay = new OutboxRelay({ pool, bus, producer: 'gateway', pollMs, log, registry });
  const wakeOutbox = () => relay.wake();
  const post = new ResolutionPost(bus, pool, { clock, log, metrics, wakeOutbox });
  const tasks = new TaskStore(pool, clock);
  const idempotency = new Idempotency({
    store: new IdempotencyStore(pool),
    files: storage,
    tasks,
    log,
    lifeMs: config.idempotencyLifeMs,
    leaseMs: config.idempotencyLeaseMs,
  });
  const onHeld = (requestId: string) => idempotency.chargeHeld(requestId);
  const { holdExpiresMs } = config;
  const service = new ChargeService(bus, catalog, { clock, log, metrics, holdExpiresMs, onHeld });
  const upstreams = new Upstreams();
  const { health, checking } = watchedChannels(options, { upstreams, catalog });
  const onNothingTaken = (requestId: string) => idempotency.nothingTaken(requestId);
  const requireLease = idempotency.requireLease.bind(idempotency);
  const limiter = new RequestLimiter({ pool, clock, log, defaults: config.defaultLimits });
  const calls = new ChargedCalls({ service, post, health, limiter, onNothingTaken });
  const failedKeys = new FailedKeys(clock, config.failedKeysPerMinute);
  return {
    limiter,
    failedKeys,
    metrics,
    catalog,
    relay,
    wakeOutbox,
    post,
    tasks,
    idempotency,
    service,
    upstreams,
    health,
    checking,
    calls,
    requireLease,
  };
}

function providersOf(options: GatewayModuleOptions): Provider[] {
  const { pool, storage, config, log, clock } = options;
  const core = coreOf(options);
  const { metrics, catalog, relay, post, tasks, idempotency, upstreams, health } = core;
  const { keyCacheMs: lifeMs, consoleGrantSecret: grantSecret, urlSigningSecret: secret } = config;
  const files = new ImageFiles(storage, { secret, lifeMs: config.imageUrlLifeMs, clock });
  const reader = imageReader(options);
  const allowPrivateAddress = config.imageUrlsMayBePrivate;
  const loader = new ImageLoader({ upstreams, reader, allowPrivateAddress, log });
  const shared = { ...core, config, clock, log };
  const shelves = { tasks, listing: new TaskListing(pool), store: storage, secret, clock };
  const assets = new AssetLibrary(shelves);
  const videos = new VideoLibrary(shelves);
  return [
    ...limitersOf(options, core),
    { provide: GATEWAY_CONFIG, useValue: config },
    { provide: GATEWAY_CLOCK, useValue: clock },
    { provide: GatewayMetrics, useValue: metrics },
    { provide: KeyAuthenticator, useValue: new KeyAuthenticator(pool, clock, { lifeMs, grantSecret }) },
    { provide: CallerAccount, useValue: new CallerAccount(pool) },
    { provide: CatalogCache, useValue: catalog },
    { provide: OutboxRelay, useValue: relay },
    { provide: ProgramReporter, useValue: gatewayReporter(options, health) },
    { provide: CHANNEL_CHECKS, useValue: core.checking },
    { provide: Idempotency, useValue: idempotency },
    { provide: ImageReader, useValue: reader },
    { provide: ResolutionPost, useValue: post },
    { provide: Upstreams, useValue: upstreams },
    { provide: ApiDocument, useValue: new ApiDocument() },
    { provide: FileStore, useValue: storage },
    { provide: ImageFiles, useValue: files },
    { provide: KeptImages, useValue: new KeptImages(pool, files, clock) },
    { provide: ImageLoader, useValue: loader },
    { provide: ImageService, useValue: new ImageService({ ...shared, files }) },
    { provide: ConversationService, useValue: new ConversationService({ ...shared, reader }) },
    { provide: TokenCounter, useValue: new TokenCounter(shared) },
    { provide: TaskCreator, useValue: new TaskCreator(shared) },
    { provide: VideoOrders, useValue: new VideoOrders(shared) },
    { provide: RemixOrders, useValue: new RemixOrders({ ...shared, library: videos }) },
    { provide: VideoLibrary, useValue: videos },
    { provide: AssetOrders, useValue: new AssetOrders({ ...shared, library: assets }) },
    { provide: AssetLibrary, useValue: assets },
    { provide: VendorWebhookInbox, useValue: new VendorWebhookInbox(shared) },
  ];
}
