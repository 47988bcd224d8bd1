import { setTimeout as pauseTimer } from 'node:timers/promises';
import type { Channel } from '#catalog/catalog.js';
import type { ChannelCalls } from './channel-calls.js';
import { FileUnavailable, readWhole } from './file-download.js';
import { type MediaType, sniffMediaType } from './media-type.js';
import type { UpstreamImage } from './outcomes.js';

export interface ImageBytes extends MediaType {
  bytes: Buffer;
}

/** A PNG image of 8192 x 8192 stays below it. A larger one is not one of ours. */
export const MAX_IMAGE_BYTES = 64 * 1024 * 1024;

/**
 * The bytes of a delivered image, from its base64 or its address, and their actual type. The address is checked like a
 * video's. @throws FileUnavailable if it is unavailable, too large, or no image
 */
export async function readImageBytes(
  calls: ChannelCalls,
  channel: Channel,
  image: UpstreamImage & { signal: AbortSignal },
): Promise<ImageBytes> {
  const bytes =
    image.b64 === undefined ? await download(calls, channel, image) : Buffer.from(image.b64, 'base64');
  const type = sniffMediaType(bytes);
  if (!type?.mime.startsWith('image/')) throw new FileUnavailable('the bytes are no image');
  return { bytes, ...type };
}

/**
 * A glitch of a file server must not cost an image that is made and paid for, so it is requested again, soon and not
 * for long.
 */
const PAUSES_MS: readonly (number | null)[] = [250, 1_000, null];

async function download(
  calls: ChannelCalls,
  channel: Channel,
  { url = '', signal }: UpstreamImage & { signal: AbortSignal },
): Promise<Buffer> {
  for (const pauseMs of PAUSES_MS) {
    try {
      const { body } = await calls.openFile(channel, url, { signal, maxBytes: MAX_IMAGE_BYTES });
      return await readWhole(body, MAX_IMAGE_BYTES);
    } catch (error) {
      const isLast = pauseMs === null || signal.aborted;
      if (isLast || !(error instanceof FileUnavailable && error.mayPass)) throw error;
      await pauseTimer(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
  throw new FileUnavailable('it was asked for in vain');
}
