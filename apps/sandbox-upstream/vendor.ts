import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pauseTimer } from 'node:timers/promises';
import type { Clock } from '#platform/clock.js';
import { refusedField } from './answers.js';
import type { Renderer } from './renderer.js';
import type { ImageJob, MeshTask, VendorTasks, VideoTask } from './vendor-tasks.js';
import type { KeptFiles } from './kept-files.js';
import type { ServiceAccounts } from './vertex/accounts.js';
import type { WebhookKeys } from './webhooks/webhook-keys.js';

/** Counters since the start or the last reset, so that a test can prove that nothing was requested twice. */
export function newStats() {
  return {
    imagesRequests: 0,
    imagesMade: 0,
    editsMade: 0,
    videoCreates: 0,
    videosAccepted: 0,
    videoRepeats: 0,
    refusals: 0,
    polls: 0,
    /** Requests that the vendor has received and leaves unanswered. */
    unanswered: 0,
    downloads: 0,
    meshesAccepted: 0,
    textsBegun: 0,
    textsFinished: 0,
    /** Answers that the client did not read to the end. */
    textsAbandoned: 0,
    speechesMade: 0,
    transcriptsMade: 0,
    /** Cancelled images. */
    jobsCancelled: 0,
  };
}

/** Durations in milliseconds. */
interface VendorSettings {
  apiKey: string;
  /** The origin of URLs in results. Undefined: that of the request. */
  publicUrl: string | undefined;
  imageMs: number;
  videoMs: number;
  slowMs: number;
  holdMs: number;
  fileMs: number;
}

/** What the handlers of one running vendor share. */
export interface Vendor {
  settings: Readonly<VendorSettings>;
  clock: Clock;
  renderer: Renderer;
  videos: VendorTasks<VideoTask>;
  meshes: VendorTasks<MeshTask>;
  jobs: VendorTasks<ImageJob>;
  /** Images that cannot be drawn again from their URL. */
  kept: KeptFiles;
  /** How often each late file was requested. */
  downloadsOf: Map<string, number>;
  /** For vendors with service accounts. */
  accounts: ServiceAccounts;
  webhookKeys: WebhookKeys;
  stats: ReturnType<typeof newStats>;
  /** Aborted when the vendor closes: every wait ends then. */
  closing: AbortSignal;
}

export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/** The longest caption. The seed still depends on the whole prompt. */
const MAX_CAPTION = 160;

export function captionOf(text: string): string {
  return [...text].slice(0, MAX_CAPTION).join('');
}

/** The seed of a prompt's drawing number `index`. */
export function seedOf(prompt: string, index: number): string {
  return createHash('sha256').update(`${index}\n${prompt}`).digest('hex').slice(0, 48);
}

/** Waits for the duration of the work. @throws AbortError if the vendor closes in the meantime. */
export async function pause({ closing }: Vendor, ms: number): Promise<void> {
  if (ms > 0) await pauseTimer(ms, undefined, { signal: closing });
}

/** Leaves a client unanswered until it gives up or the longest time is over. */
export async function holdUntilClientLeaves(vendor: Vendor, response: ServerResponse): Promise<void> {
  vendor.stats.unanswered += 1;
  const left = new AbortController();
  response.once('close', () => left.abort());
  const signal = AbortSignal.any([left.signal, vendor.closing]);
  await pauseTimer(vendor.settings.holdMs, undefined, { signal }).catch(() => undefined);
  response.destroy();
}

export function publicOriginOf({ settings }: Vendor, request: IncomingMessage): string {
  if (settings.publicUrl) return settings.publicUrl;
  const host = request.headers.host ?? '';
  if (/^[\w.-]+(:\d+)?$|^\[[\da-f:]+\](:\d+)?$/i.test(host)) return `http://${host}`;
  return `http://127.0.0.1:${request.socket.localPort}`;
}

/** A required text field. @throws VendorRefusal 400 */
export function requiredTextField(body: Record<string, unknown>, name: string): string {
  const value = body[name];
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw refusedField(name, `The field "${name}" must be a text.`, 'missing_required_parameter');
}

/** An optional text field, which may be null. @throws VendorRefusal 400 for another type */
export function optionalTextField(body: Record<string, unknown>, name: string): string | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw refusedField(name, `The field "${name}" must be a text.`, 'invalid_type');
}

export interface Area {
  width: number;
  height: number;
}

/** Reads `WxH` in pixels. @throws VendorRefusal 400 if it is malformed or a side is outside `sides` */
export function readSize(text: string, sides: { min: number; max: number }): Area {
  const [, width, height] = (/^(\d{1,5})x(\d{1,5})$/.exec(text) ?? []).map(Number);
  const fits = (side: number | undefined): side is number =>
    side !== undefined && side >= sides.min && side <= sides.max;
  if (fits(width) && fits(height)) return { width, height };
  throw refusedField('size', `A size is WIDTHxHEIGHT, ${sides.min} to ${sides.max} each.`);
}

/** Reads `W:H` into an area with even sides whose longer one has `longSide` pixels. @throws VendorRefusal 400. */
export function readAspectRatio(text: string, longSide: number): Area {
  const [, width = 0, height = 0] = (/^(\d{1,4}):(\d{1,4})$/.exec(text) ?? []).map(Number);
  if (!(width > 0 && height > 0 && width <= height * 4 && height <= width * 4)) {
    throw refusedField('aspect_ratio', 'An aspect ratio is W:H, from 1:4 to 4:1.');
  }
  const scale = longSide / Math.max(width, height);
  return { width: even(width * scale), height: even(height * scale) };
}

function even(pixels: number): number {
  return Math.round(pixels / 2) * 2;
}
