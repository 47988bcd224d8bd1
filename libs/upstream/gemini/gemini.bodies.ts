import type { JsonObject } from '../answers.js';
import { toAspectRatio } from '../aspect-ratio.js';
import type { ImageRequest, VideoRequest } from '../outcomes.js';

/** Bodies for Google's models, the same with an API key and on Vertex AI. */

/** The shapes of Google's image models. */
const IMAGE_RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9'];

/** The relay's body of a conversation contains what Google has in the path. */
export function contentsOf({ model: _model, stream: _stream, ...body }: Record<string, unknown>): JsonObject {
  return body;
}

export function imageParameters({ n, size, aspectRatio: asked, resolution }: ImageRequest) {
  const aspectRatio = asked ?? (size && toAspectRatio(size, IMAGE_RATIOS));
  return {
    sampleCount: n,
    aspectRatio: aspectRatio === 'auto' ? undefined : aspectRatio,
    sampleImageSize: resolution?.toUpperCase(),
  };
}

export function videoParameters({ seconds, aspectRatio, resolution }: VideoRequest) {
  return { durationSeconds: seconds, aspectRatio, resolution };
}
