import type { Channel } from '#catalog/catalog.js';
import { readCreated } from '../answers.js';
import type { ChannelCalls } from '../channel-calls.js';
import type { CreateOutcome, RemixRequest } from '../outcomes.js';
import type { CreateOptions } from '../protocol.js';

/** A remix in OpenAI's style: of a finished video, by its id, with only a new prompt. */
export async function remixAtOpenAi(
  calls: ChannelCalls,
  channel: Channel,
  { remixOf, prompt, idempotencyKey, signal }: RemixRequest & CreateOptions,
): Promise<CreateOutcome> {
  const path = `/v1/videos/${encodeURIComponent(remixOf)}/remix`;
  const json = { prompt };
  const outcome = await calls.createTask(channel, path, { json, idempotencyKey, signal, read: readCreated });
  const isImpossible =
    (outcome.kind === 'not_accepted' || outcome.kind === 'unknown') &&
    IMPOSSIBLE.some((status) => status === outcome.upstreamStatus);
  return isImpossible ? NOT_REMIXABLE : outcome;
}

/** The vendor no longer has the video, or a similar relay does not support remixes. Elsewhere, a 404 is about the model. */
const IMPOSSIBLE = [404, 405, 501];

const NOT_REMIXABLE: CreateOutcome = {
  kind: 'refused',
  status: 400,
  code: 'video_not_remixable',
  message: 'The vendor no longer has this video, or does not remix videos. Nothing was charged.',
  upstreamStatus: 404,
};
