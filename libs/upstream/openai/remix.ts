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
  const path = `/v1/videos/${encodeURIComponent(remixOf)}/remix`;
  const json = { prompt };
  const outcome = await calls.createTask(channel, path, { json, idempotencyKey, signal, read: readCreated });
  const isImpossible =
    (outcome.kind === 'not_accepted' || outcome.kind === 'unknown') &&
    IMPOSSIBLE.some((status) => status === outcome.upstreamStatus);
  return isImpossible ? NOT_REMIXABLE : outcome;
}

/** The vendor no longer has the video, or a relay like it knows no remixes; elsewhere a 404 speaks of the model. */
const IMPOSSIBLE = [404, 405, 501];

const NOT_REMIXABLE: CreateOutcome = {
  kind: 'refused',
  status: 400,
  code: 'video_not_remixable',
  message: 'The vendor no longer has this video, or does not remix videos. Nothing was charged.',
  upstreamStatus: 404,
};
