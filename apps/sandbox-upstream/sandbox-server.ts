import { once, setMaxListeners } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '#platform/clock.js';
import { OperatorError } from '#platform/errors.js';
import { createLogger, type Logger } from '#platform/logging.js';
import { Refusal, sendJson, sendRefusal } from './answers.js';
import { createImages, instantPng, serveImage } from './images.js';
import { Studio } from './studio.js';
import { type Exchange, newStats, type Vendor } from './vendor.js';
import { stateAt, VideoTasks } from './video-tasks.js';
import { createVideo, downloadVideo, pollVideo, serveVideo } from './videos.js';

export interface SandboxOptions {
  /** 127.0.0.1 by default. */
  host?: string;
  /** 0, the default, takes a free port. */
  port?: number;
  /** Folder that keeps accepted videos through a killed process; without it they are in memory only. */
  stateDir?: string | undefined;
  /** `sandbox-key` by default. */
  apiKey?: string;
  /** How long an image takes: 0.3 by default. */
  imageSeconds?: number;
  /** How long a video takes: 6 by default. */
  videoSeconds?: number;
  /** How long the fault `slow-bytes` stretches a file: 10 by default. */
  slowSeconds?: number;
  /** How long an answer is withheld at most: 120 by default. */
  holdSeconds?: number;
  /** How long result addresses work: an hour by default. */
  fileSeconds?: number;
  /** Origin of result addresses; by default the one that the request came to. */
  publicUrl?: string | undefined;
  clock?: Clock;
}

export interface Sandbox {
  url: string;
  port: number;
  /** Ends open answers and frees the port; safe to call twice. */
  close(): Promise<void>;
}

/** Longer than the idle time of any client's pool, so that a kept connection never closes under a new request. */
const KEEP_ALIVE_MS = 75_000;

/** Starts the stand-in vendor. @throws OperatorError when the port or the state folder cannot be used. */
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
    await Promise.all([closed, vendor.studio.close()]);
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
    studio: new Studio(),
    tasks: new VideoTasks(options.stateDir),
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
  try {
    await route(vendor, exchange);
  } catch (error) {
    if (vendor.closing.aborted || response.headersSent || request.socket.destroyed) {
      response.destroy();
    } else if (error instanceof Refusal) {
      if (request.method === 'POST') vendor.stats.refusals += 1;
      sendRefusal(response, error);
    } else {
      logger.error({ err: error }, 'a request failed');
      sendRefusal(response, new Refusal(500, 'internal_error', 'The vendor failed.'));
    }
  }
}

async function route(vendor: Vendor, exchange: Exchange): Promise<void> {
  const { method = '', url = '' } = exchange.request;
  const [path = ''] = url.split('?');
  const verb = method === 'HEAD' ? 'GET' : method;
  if (path.startsWith('/files/') && verb === 'GET')
    return serveFile(vendor, exchange, path.slice('/files/'.length));
  if (path.startsWith('/_sandbox/')) return control(vendor, exchange, `${verb} ${path}`);
  authorise(vendor, exchange);
  if (verb === 'POST') {
    if (path === '/v1/images/generations') return createImages(vendor, exchange);
    if (path === '/v1/videos') return createVideo(vendor, exchange, 'openai');
    if (path === '/v1/videos/generations') return createVideo(vendor, exchange, 'xai');
  }
  const [, id, content] = /^\/v1\/videos\/([\w-]{1,64})(\/content)?$/.exec(path) ?? [];
  if (verb === 'GET' && id !== undefined) {
    return content ? downloadVideo(vendor, exchange, id) : pollVideo(vendor, exchange, id);
  }
  throw new Refusal(404, 'unknown_url', `There is nothing at ${method} ${path}.`);
}

function authorise({ settings }: Vendor, { request }: Exchange): void {
  const [scheme = '', key] = (request.headers.authorization ?? '').split(' ');
  if (scheme.toLowerCase() === 'bearer' && key === settings.apiKey) return;
  throw new Refusal(401, 'invalid_api_key', 'The key is missing or wrong.');
}

async function serveFile(vendor: Vendor, exchange: Exchange, name: string): Promise<void> {
  if (name === 'instant.png') {
    vendor.stats.downloads += 1;
    exchange.response.writeHead(200, { 'content-type': 'image/png', 'content-length': instantPng.length });
    exchange.response.end(instantPng);
    return;
  }
  const [, kind, rest = ''] = /^(images|videos)\/([\w.-]+)\.(?:png|mp4)$/.exec(name) ?? [];
  if (kind === 'images') return serveImage(vendor, exchange, rest);
  if (kind === 'videos') return serveVideo(vendor, exchange, rest);
  throw new Refusal(404, 'file_not_found', 'There is no such file.');
}

/** A list of tasks is for reading by tests: the newest of them are enough. */
const MAX_LISTED_TASKS = 1_000;

function control(vendor: Vendor, { request, response }: Exchange, what: string): void {
  request.resume();
  if (what === 'GET /_sandbox/stats') return sendJson(response, 200, vendor.stats);
  if (what === 'GET /_sandbox/tasks') return sendJson(response, 200, { tasks: listTasks(vendor) });
  if (what !== 'POST /_sandbox/reset') throw new Refusal(404, 'unknown_url', `There is nothing at ${what}.`);
  vendor.tasks.clear();
  vendor.studio.clear();
  Object.assign(vendor.stats, newStats());
  sendJson(response, 200, vendor.stats);
}

function listTasks({ tasks, clock }: Vendor) {
  const nowMs = clock.nowMs();
  return tasks
    .list()
    .slice(-MAX_LISTED_TASKS)
    .map((task) => ({
      id: task.id,
      dialect: task.dialect,
      model: task.model,
      prompt: task.prompt,
      seconds: task.drawing.seconds,
      createdAt: new Date(task.createdAtMs).toISOString(),
      idempotencyKey: task.idempotencyKey,
      ...stateAt(task, nowMs),
    }));
}
