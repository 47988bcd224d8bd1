import { once, setMaxListeners } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '#platform/clock.js';
import { OperatorError } from '#platform/errors.js';
import { createLogger, type Logger } from '#platform/logging.js';
import { apiFamilyOf, VendorRefusal, sendRefusal } from './answers.js';
import { KeptFiles } from './kept-files.js';
import { routeExchange } from './routes.js';
import { Renderer } from './renderer.js';
import { type Exchange, newStats, type Vendor } from './vendor.js';
import { VendorTasks } from './vendor-tasks.js';
import { ServiceAccounts } from './vertex/accounts.js';
import { WebhookKeys } from './webhooks/webhook-keys.js';

export interface SandboxOptions {
  /** 127.0.0.1 by default. */
  host?: string;
  /** 0, the default, takes a free port. */
  port?: number;
  /** The folder for accepted videos and meshes, so that they survive a killed process. Without it, they are only in memory. */
  stateDir?: string | undefined;
  /** `sandbox-key` by default. */
  apiKey?: string;
  /** How long an image takes: 0.3 by default. */
  imageSeconds?: number;
  /** How long a video takes: 6 by default. */
  videoSeconds?: number;
  /** How long a file takes with the fault `slow-bytes`: 10 by default. */
  slowSeconds?: number;
  /** The longest time an answer is withheld: 120 by default. */
  holdSeconds?: number;
  /** How long result URLs work: an hour by default. */
  fileSeconds?: number;
  /** The origin of result URLs. By default, that of the request. */
  publicUrl?: string | undefined;
  clock?: Clock;
}

export interface Sandbox {
  url: string;
  port: number;
  /** Ends open answers and frees the port. Safe to call twice. */
  close(): Promise<void>;
}

/** Longer than the idle time of any client's pool, so that a kept connection never closes during a new request. */
const KEEP_ALIVE_MS = 75_000;

/** Starts the stand-in vendor. @throws OperatorError if the port or the state folder cannot be used. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const vendor = vendorOf(options, closing.signal);
  const logger = createLogger('sandbox-upstream');
  const server = createServer((request, response) => {
    void handle(vendor, { request, response }, logger);
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const { host = '127.0.0.1', port = 0 } = options;
  await listen(server, host, port);
  const actualPort = (server.address() as AddressInfo).port;
  const close = async () => {
    closing.abort();
    const closed = server.listening ? once(server, 'close') : undefined;
    server.close();
    server.closeAllConnections();
    await Promise.all([closed, vendor.renderer.close()]);
  };
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${actualPort}`, port: actualPort, close };
}

function vendorOf(options: SandboxOptions, closing: AbortSignal): Vendor {
  const settings = {
    apiKey: options.apiKey ?? 'sandbox-key',
    publicUrl: options.publicUrl,
    imageMs: (options.imageSeconds ?? 0.3) * 1000,
    videoMs: (options.videoSeconds ?? 6) * 1000,
    slowMs: (options.slowSeconds ?? 10) * 1000,
    holdMs: (options.holdSeconds ?? 120) * 1000,
    fileMs: (options.fileSeconds ?? 3600) * 1000,
  };
  return {
    settings,
    clock: options.clock ?? systemClock,
    renderer: new Renderer(),
    videos: new VendorTasks(options.stateDir, '.json'),
    meshes: new VendorTasks(options.stateDir, '.mesh'),
    jobs: new VendorTasks(options.stateDir, '.job'),
    kept: new KeptFiles(),
    downloadsOf: new Map(),
    accounts: new ServiceAccounts(),
    webhookKeys: new WebhookKeys(),
    stats: newStats(),
    closing,
  };
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new OperatorError(`The sandbox cannot listen on ${host}:${port}: ${(error as Error).message}.`);
  }
}

async function handle(vendor: Vendor, exchange: Exchange, logger: Logger): Promise<void> {
  const { request, response } = exchange;
  const family = apiFamilyOf((request.url ?? '').split('?')[0] ?? '');
  try {
    await routeExchange(vendor, exchange);
  } catch (error) {
    if (vendor.closing.aborted || response.headersSent || request.socket.destroyed) {
      response.destroy();
    } else if (error instanceof VendorRefusal) {
      if (request.method === 'POST') vendor.stats.refusals += 1;
      sendRefusal(response, error, family);
    } else {
      logger.error({ err: error }, 'a request failed');
      sendRefusal(response, new VendorRefusal(500, 'internal_error', 'The vendor failed.'), family);
    }
  }
}
