import type { Channel } from '#catalog/catalog.js';
import { notAnswered, readPoll } from '../answers.js';
import { type ChannelCalls, urlOf } from '../channel-calls.js';
import type { PollOutcome } from '../outcomes.js';

interface Asked {
  upstreamId: string;
  signal: AbortSignal;
  /** Whether the answer has the id, too. An answer about another video is not one. */
  answersId?: boolean;
}

/** The state of a video, at the path that OpenAI and xAI share. */
export async function pollVideoByPath(
  calls: ChannelCalls,
  channel: Channel,
  { upstreamId, signal, answersId = false }: Asked,
): Promise<PollOutcome> {
  const path = `/v1/videos/${encodeURIComponent(upstreamId)}`;
  const result = await calls.get(channel, path, { signal });
  if (result.kind === 'failure') return notAnswered(result);
  return readPoll(result, urlOf(channel, `${path}/content`), answersId ? upstreamId : undefined);
}
