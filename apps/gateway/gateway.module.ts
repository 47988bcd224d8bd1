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

/** What the steps of a call need. */
function basicsOf(options: GatewayModuleOptions) {
  const { pool, bus, config, log, registry, clock } = options;
  const loadCatalog = () => loadOpenCatalog(pool, { secrets: config.secrets, log });
  const catalog = new CatalogCache(loadCatalog, clock, config.catalogLifeMs);
  const pollMs = config.outboxPollMs;
  const relay = new OutboxRelay({ pool, bus, producer: 'gateway', pollMs, log, registry });
  const upstreams = new Upstreams();
  return {
    catalog,
    relay,
    upstreams,
    ...watchedChannels(options, { upstreams, catalog }),
    wakeOutbox: () => relay.wake(),
    metrics: new GatewayMetrics(registry),
    tasks: new TaskStore(pool, clock),
    limiter: new RequestLimiter({ pool, clock, log, defaults: config.defaultLimits }),
    failedKeys: new FailedKeys(clock, config.failedKeysPerMinute),
  };
}

/** The steps that every call goes through. */
function coreOf(options: GatewayModuleOptions) {
  const { pool, bus, storage, config, log, clock } = options;
  const basics = basicsOf(options);
  const { catalog, metrics, tasks, health, limiter, wakeOutbox } = basics;
  const { holdExpiresMs, idempotencyLifeMs: lifeMs, idempotencyLeaseMs: leaseMs } = config;
  const store = new IdempotencyStore(pool);
  const idempotency = new Idempotency({ store, files: storage, tasks, log, lifeMs, leaseMs });
  const onHeld = (requestId: string) => idempotency.chargeHeld(requestId);
  const service = new ChargeService(bus, catalog, { clock, log, metrics, holdExpiresMs, onHeld });
  const post = new ResolutionPost(bus, pool, { log, metrics, wakeOutbox });
  const onNothingTaken = (requestId: string) => idempotency.nothingTaken(requestId);
  const calls = new ChargedCalls({ service, post, health, limiter, onNothingTaken });
  const requireLease = idempotency.requireLease.bind(idempotency);
  return { ...basics, idempotency, service, post, calls, requireLease };
}

function providersOf(options: GatewayModuleOptions): Provider[] {
  const { pool, storage, config, clock } = options;
  const core = coreOf(options);
  const { keyCacheMs: lifeMs, consoleGrantSecret: grantSecret } = config;
  return [
    ...limitersOf(options, core),
    ...handlersOf(options, core),
    ...taskHandlersOf(options, core),
    { provide: GATEWAY_CONFIG, useValue: config },
    { provide: GATEWAY_CLOCK, useValue: clock },
    { provide: GatewayMetrics, useValue: core.metrics },
    { provide: KeyAuthenticator, useValue: new KeyAuthenticator(pool, clock, { lifeMs, grantSecret }) },
    { provide: CallerAccount, useValue: new CallerAccount(pool) },
    { provide: CatalogCache, useValue: core.catalog },
    { provide: OutboxRelay, useValue: core.relay },
    { provide: ProgramReporter, useValue: gatewayReporter(options, core.health) },
    { provide: CHANNEL_CHECKS, useValue: core.checking },
    { provide: Idempotency, useValue: core.idempotency },
    { provide: ResolutionPost, useValue: core.post },
    { provide: Upstreams, useValue: core.upstreams },
    { provide: ApiDocument, useValue: new ApiDocument() },
    { provide: FileStore, useValue: storage },
  ];
}

/** What answers the calls. */
function handlersOf(options: GatewayModuleOptions, core: ReturnType<typeof coreOf>): Provider[] {
  const { pool, storage, config, log, clock } = options;
  const { upstreams } = core;
  const {
    urlSigningSecret: secret,
    imageUrlLifeMs: lifeMs,
    imageUrlsMayBePrivate: allowPrivateAddress,
  } = config;
  const files = new ImageFiles(storage, { secret, lifeMs, clock });
  const reader = imageReader(options);
  const shared = { ...core, config, clock, log };
  return [
    { provide: ImageReader, useValue: reader },
    { provide: ImageFiles, useValue: files },
    { provide: KeptImages, useValue: new KeptImages(pool, files, clock) },
    { provide: ImageLoader, useValue: new ImageLoader({ upstreams, reader, allowPrivateAddress, log }) },
    { provide: ImageService, useValue: new ImageService({ ...shared, files }) },
    { provide: ConversationService, useValue: new ConversationService({ ...shared, reader }) },
    { provide: TokenCounter, useValue: new TokenCounter(shared) },
  ];
}

/** What answers the calls for videos and 3D assets. */
function taskHandlersOf(options: GatewayModuleOptions, core: ReturnType<typeof coreOf>): Provider[] {
  const { pool, storage, config, log, clock } = options;
  const { tasks } = core;
  const shared = { ...core, config, clock, log };
  const listing = new TaskListing(pool);
  const shelves = { tasks, listing, store: storage, secret: config.urlSigningSecret, clock };
  const assets = new AssetLibrary(shelves);
  const videos = new VideoLibrary(shelves);
  return [
    { provide: TaskCreator, useValue: new TaskCreator(shared) },
    { provide: VideoOrders, useValue: new VideoOrders(shared) },
    { provide: RemixOrders, useValue: new RemixOrders({ ...shared, library: videos }) },
    { provide: VideoLibrary, useValue: videos },
    { provide: AssetOrders, useValue: new AssetOrders({ ...shared, library: assets }) },
    { provide: AssetLibrary, useValue: assets },
    { provide: VendorWebhookInbox, useValue: new VendorWebhookInbox(shared) },
  ];
}
