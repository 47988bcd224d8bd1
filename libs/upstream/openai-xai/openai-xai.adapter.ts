import type { Channel } from '#catalog/catalog.js';
import type { UpstreamConnections } from '../connections.js';
import { type FileBody, openFile } from '../file-download.js';
import { httpCall, type HttpAnswer, type HttpCall, type HttpFailure } from '../http-call.js';
import type { CreateOutcome, ImageOutcome, ImageRequest, PollOutcome, VideoRequest } from '../outcomes.js';
import { readCreated, readImages, readPoll } from './answers.js';
import { classifyCreate } from './classification.js';
import { toAspectRatio } from './aspect-ratio.js';

/** Ten pictures of 7 MB in base64, with room to spare; also what one call may take of this process's memory. */
const MAX_IMAGES_ANSWER_BYTES = 128 * 1024 * 1024;
/** A task and its error text; anything larger is not one. */
const MAX_TASK_ANSWER_BYTES = 1024 * 1024;

/** "Argument not supported: size" */
const SIZE_REFUSED = /\bnot supported\b.*\bsize\b|\bsize\b.*\bnot supported\b/i;

/**
 * The protocol that OpenAI and xAI share, in the form both accept: JSON bodies, videos created at
 * /v1/videos/generations, and answers read in either dialect. A channel's base URL is the origin without /v1.
 * No method throws for what an upstream does; the outcome says it.
 */
export class OpenAiXaiAdapter {
  private readonly channelsWithoutSize = new Set<string>();

  constructor(private readonly connections: UpstreamConnections) {}

  /**
   * Asks for images and waits for them; the signal is the request's limit. OpenAI takes a `size`; xAI refuses the
   * field, and then the nearest aspect ratio is asked for instead, from then on at once.
   */
  async generateImages(channel: Channel, request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome> {
    const { size } = request;
    const takesSize = size !== undefined && !this.channelsWithoutSize.has(channel.id);
    const outcome = await this.postImages(channel, takesSize ? request : withoutSize(request), signal);
    if (!takesSize || outcome.kind !== 'refused' || !SIZE_REFUSED.test(outcome.message)) return outcome;
    this.channelsWithoutSize.add(channel.id);
    return this.postImages(channel, withoutSize(request), signal);
  }

  /** Creates a task. The key makes a repeat safe where the channel honours it. */
  async createVideo(
    channel: Channel,
    request: VideoRequest,
    options: { idempotencyKey: string; signal: AbortSignal },
  ): Promise<CreateOutcome> {
    const body = {
      model: request.model,
      prompt: request.prompt,
      duration: request.seconds,
      aspect_ratio: request.aspectRatio,
      resolution: request.resolution,
    };
    const headers = { 'idempotency-key': options.idempotencyKey };
    const result = await this.post(channel, '/v1/videos/generations', {
      body,
      headers,
      signal: options.signal,
    });
    return classifyCreate(result, readCreated);
  }

  /** Asks how a task stands. */
  async pollVideo(channel: Channel, upstreamId: string, signal: AbortSignal): Promise<PollOutcome> {
    const path = `/v1/videos/${encodeURIComponent(upstreamId)}`;
    const result = await this.call(channel, path, { method: 'GET', signal, maxBytes: MAX_TASK_ANSWER_BYTES });
    if (result.kind === 'failure') return { kind: 'no_answer', reason: result.reason };
    return readPoll(result, urlOf(channel, `${path}/content`));
  }

  /**
   * Opens the file of a finished task, whose address `pollVideo` gave. The key goes along only to the channel's own
   * origin. @throws FileUnavailable
   */
  openVideo(
    channel: Channel,
    fileUrl: string,
    options: { signal: AbortSignal; maxBytes: number },
  ): Promise<FileBody> {
    return openFile(this.connections, fileUrl, {
      ...options,
      allowPrivateAddress: channel.allowPrivateAddress,
      authorization: { origin: urlOf(channel, '/').origin, value: `Bearer ${channel.apiKey}` },
    });
  }

  private async postImages(
    channel: Channel,
    request: ImageRequest,
    signal: AbortSignal,
  ): Promise<ImageOutcome> {
    const body = {
      ...request.extras,
      model: request.model,
      prompt: request.prompt,
      n: request.n,
      response_format: request.responseFormat,
      size: request.size,
      aspect_ratio: request.aspectRatio,
      resolution: request.resolution,
    };
    const result = await this.post(channel, '/v1/images/generations', { body, signal });
    return classifyCreate(result, (answer) => readImages(answer, request.n));
  }

  private post(
    channel: Channel,
    path: string,
    options: { body: object; headers?: Record<string, string>; signal: AbortSignal },
  ): Promise<HttpAnswer | HttpFailure> {
    return this.call(channel, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...options.headers },
      body: JSON.stringify(options.body),
      signal: options.signal,
      maxBytes: MAX_IMAGES_ANSWER_BYTES,
    });
  }

  private call(
    channel: Channel,
    path: string,
    options: Pick<HttpCall, 'method' | 'body' | 'signal' | 'maxBytes'> & { headers?: Record<string, string> },
  ): Promise<HttpAnswer | HttpFailure> {
    return httpCall(this.connections.api, {
      ...options,
      url: urlOf(channel, path),
      headers: { authorization: `Bearer ${channel.apiKey}`, accept: 'application/json', ...options.headers },
      timeoutMs: channel.requestTimeoutMs,
    });
  }
}

function withoutSize({ size, ...request }: ImageRequest): ImageRequest {
  if (size === undefined) return request;
  return { ...request, aspectRatio: request.aspectRatio ?? toAspectRatio(size) };
}

function urlOf(channel: Channel, path: string): URL {
  return new URL(channel.baseUrl.replace(/\/+$/, '') + path);
}
