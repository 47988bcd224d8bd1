import type { Channel } from '#catalog/catalog.js';
import { readCreated } from '../answers.js';
import type { ChannelCalls } from '../channel-calls.js';
import type { CreateOutcome, VideoRequest } from '../outcomes.js';
import type { CreateOptions } from '../protocol.js';

/** Creates a video in xAI's style. xAI itself has no `generate_audio`, but similar relays do. */
export function createVideoAtXai(
  calls: ChannelCalls,
  channel: Channel,
  { idempotencyKey, signal, ...request }: VideoRequest & CreateOptions,
): Promise<CreateOutcome> {
  const json = {
    model: request.model,
    prompt: request.prompt,
    duration: request.seconds,
    aspect_ratio: request.aspectRatio,
    resolution: request.resolution,
    generate_audio: request.audio,
  };
  return calls.createTask(channel, '/v1/videos/generations', {
    json,
    idempotencyKey,
    signal,
    read: readCreated,
  });
}
