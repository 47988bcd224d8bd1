import type { Channel } from '#catalog/catalog.js';
import {
  ANOTHER_TASK,
  asObject,
  asText,
  imagesFailed,
  isOfAnother,
  notAnswered,
  readCreated,
  readError,
  readFailed,
  readImages,
  readObject,
  unknownWord,
} from '../answers.js';
import { toSize } from '../aspect-ratio.js';
import { bearer, ChannelCalls } from '../channel-calls.js';
import type { UpstreamConnections } from '../connections.js';
import { dataUrl } from '../data-url.js';
import type { HttpAnswer, HttpFailure } from '../http-call.js';
import type {
  CreateOutcome,
  ImageEditRequest,
  ImageOutcome,
  ImageRequest,
  PollOutcome,
  VideoRequest,
} from '../outcomes.js';
import type { CreateOptions, Protocol } from '../protocol.js';
import { severalImages } from '../several-images.js';

const TASKS = '/v3/contents/generations/tasks';
const CANCEL_MS = 5_000;
/** The vendor's sizes for the shapes at 2K, and the factor for another resolution. */
const IMAGE_SIZES = [
  '2048x2048',
  '2304x1728',
  '1728x2304',
  '2560x1440',
  '1440x2560',
  '2496x1664',
  '1664x2496',
  '3024x1296',
];
const SCALES: Readonly<Record<string, number>> = { '1k': 0.5, '2k': 1, '3k': 1.5, '4k': 2 };

/** Volcengine Ark: Seedream images in OpenAI's style, one per call, and Seedance videos as tasks. */
export class ArkProtocol implements Protocol {
  static readonly families = ['image', 'video'] as const;
  static readonly sound = 'asked';
  readonly probe = { path: '/v3/contents/generations/tasks?page_num=1&page_size=1' };
  readonly calls: ChannelCalls;

  constructor(connections: UpstreamConnections) {
    this.calls = new ChannelCalls(connections, { credentials: bearer });
  }

  generateImages(channel: Channel, request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome> {
    const ask = () => this.image(channel, imageFields(request), signal);
    return severalImages(channel, { n: request.n, signal, ask });
  }

  editImages(channel: Channel, request: ImageEditRequest, signal: AbortSignal): Promise<ImageOutcome> {
    const images = request.images.map(dataUrl);
    const fields = { ...imageFields(request), image: images.length === 1 ? images[0] : images };
    const ask = () => this.image(channel, fields, signal);
    return severalImages(channel, { n: request.n, signal, ask });
  }

  createVideo(channel: Channel, request: VideoRequest, { signal }: CreateOptions): Promise<CreateOutcome> {
    const { model, prompt, seconds, aspectRatio, resolution, audio } = request;
    const json = {
      model,
      content: [{ type: 'text', text: withoutCommands(prompt) }],
      duration: seconds,
      ratio: aspectRatio,
      resolution,
      generate_audio: audio,
      watermark: false,
    };
    return this.calls.createTask(channel, TASKS, { json, signal, read: readCreated });
  }

  async pollTask(channel: Channel, upstreamId: string, signal: AbortSignal): Promise<PollOutcome> {
    const path = `${TASKS}/${encodeURIComponent(upstreamId)}`;
    return readTask(await this.calls.get(channel, path, { signal }), upstreamId);
  }

  /**
   * Only if it is queued: for a task that has ended, the same request would delete everything about it, including its
   * video.
   */
  async cancelTask(channel: Channel, upstreamId: string): Promise<void> {
    const path = `${TASKS}/${encodeURIComponent(upstreamId)}`;
    const task = await this.calls.get(channel, path, { signal: AbortSignal.timeout(CANCEL_MS) });
    const status = task.kind === 'answer' ? readObject(task.body)?.['status'] : null;
    if (status === 'queued') await this.calls.cancel(channel, path, 'DELETE');
  }

  private image(channel: Channel, fields: object, signal: AbortSignal): Promise<ImageOutcome> {
    return this.calls.create(channel, '/v3/images/generations', {
      body: { json: fields },
      signal,
      read: readImage,
    });
  }
}

function imageFields(request: ImageRequest): object {
  const { extras, model, prompt, size, responseFormat } = request;
  return {
    ...extras,
    model,
    prompt,
    size: size === undefined || size === 'auto' ? shapeOf(request) : size,
    response_format: responseFormat,
    watermark: false,
  };
}

/** A shape is a size here, at the resolution that is paid for. A resolution alone is also a valid size. */
function shapeOf({ aspectRatio, resolution }: ImageRequest): string | undefined {
  const shape = aspectRatio === undefined ? undefined : toSize(aspectRatio, IMAGE_SIZES);
  if (shape === undefined) return resolution?.toUpperCase();
  const scale = SCALES[resolution ?? '2k'] ?? 1;
  return shape
    .split('x')
    .map((side) => Number(side) * scale)
    .join('x');
}

/** A failed image has an error in its place. */
function readImage(answer: HttpAnswer): ImageOutcome {
  const outcome = readImages(answer, 1);
  const data = readObject(answer.body)?.['data'];
  const error = Array.isArray(data) ? readError(asObject(data[0])) : null;
  return outcome.kind === 'unknown' && error ? imagesFailed(error, answer.status) : outcome;
}

/**
 * A prompt can contain settings such as `--duration 12`, which would be applied but not paid for. Only the first dash of a row is
 * tried: from each, a prompt of dashes would take seconds.
 */
function withoutCommands(prompt: string): string {
  return prompt.replace(/(?<!-)-{2,}(?=\s*[a-z])/gi, '\u2014');
}

const WORDS: ReadonlyMap<string, 'running' | 'completed' | 'failed'> = new Map([
  ['queued', 'running'],
  ['running', 'running'],
  ['succeeded', 'completed'],
  ['failed', 'failed'],
  ['cancelled', 'failed'],
  ['expired', 'failed'],
]);

function readTask(result: HttpAnswer | HttpFailure, id: string): PollOutcome {
  if (result.kind === 'failure' || result.status > 299) return notAnswered(result);
  const body = readObject(result.body);
  if (isOfAnother(body, id)) return notAnswered(result, ANOTHER_TASK);
  const word = asText(body?.['status']);
  const state = WORDS.get(word ?? '');
  if (body === null || state === undefined) return notAnswered(result, unknownWord(word));
  if (state === 'running') return { kind: 'running', progress: null };
  if (state === 'failed') return readFailed(body);
  const fileUrl = asText(asObject(body['content'])?.['video_url']);
  if (fileUrl !== undefined && URL.canParse(fileUrl)) return { kind: 'completed', fileUrl };
  return { kind: 'no_answer', reason: 'a task without a video', of: 'task' };
}
