import type { Channel } from '#catalog/catalog.js';
import { readCreated } from '../answers.js';
import type { ChannelCalls } from '../channel-calls.js';
import type { CreateOutcome, RemixRequest } from '../outcomes.js';
import type { CreateOptions } from '../protocol.js';

/** A remix in OpenAI's way: of a finished video, by its id, with another prompt and nothing else. */
export async function remixAtOpenAi(
  calls: ChannelCalls,
  channel: Channel,
  { remixOf, prompt, idempotencyKey, signal }: RemixRequest & CreateOptions,
): Promise<CreateOutcome> {
  const outcome = await calls.create(channel, `/v1/videos/${encodeURIComponent(remixOf)}/remix`, {
    body: { json: { prompt } },
    headers: { 'idempotency-key': idempotencyKey },
    signal,
    yields: 'task',
    read: readCreated,
  });
  // Elsewhere a 404 speaks of the model. Here it is the video that the vendor has no more, and no repeat brings it back.
  const isGone = outcome.kind === 'not_accepted' && outcome.upstreamStatus === 404;
  return isGone ? GONE : outcome;
}

const GONE: CreateOutcome = {
  kind: 'refused',
  status: 400,
  code: 'video_not_remixable',
  message: 'The vendor no longer has this video, so it cannot be remixed. Nothing was charged.',
  upstreamStatus: 404,
};
