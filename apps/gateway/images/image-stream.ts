import type { Channel } from '#catalog/catalog.js';
import { type ImageTokens, measureImages } from '#catalog/image-estimate.js';
import type { Dimensions } from '#pricing/rates.js';
import type { InputImage } from '#upstream/outcomes.js';
import type { Hold } from '../charging/charge.service.js';
import type { Conversation } from '../conversation/conversation-request.js';
import type { Body } from '../http/fields.js';
import { modelForGroup, refuseOtherFamily } from '../http/model-access.js';
import { refuseBeyondLimits } from '#catalog/model-limits.js';
import { imageDimensions, type ImageGeneration } from './image-request.js';
import { type HeldWork, upstreamRequest } from './image.calls.js';
import type { EditImages } from './image.loader.js';

/** An image requested as a stream of events. */
export interface StreamedImage {
  readonly asked: ImageGeneration;
  /** The number of images in an edit. */
  readonly inputImages: number;
  /** Reads them once, for all models of the request. @throws ApiError */
  readonly inputs?: () => Promise<EditImages<InputImage>>;
}

/** The same for one of its models, and what it is priced by. */
export interface PreparedImage {
  readonly asked: ImageGeneration;
  readonly inputs: EditImages<InputImage> | undefined;
  readonly dimensions: Dimensions;
  readonly tokens: ImageTokens;
}

type Catalogued = Parameters<typeof modelForGroup>[0];

/** @throws ApiError if the model cannot do it */
export function imageModel(
  current: Catalogued,
  { asked, inputImages }: StreamedImage,
  { id, group }: { id: string; group: string },
): HeldWork['model'] {
  const model = modelForGroup(current, id, group);
  refuseOtherFamily(model, 'image');
  refuseBeyondLimits(model, {
    images: { value: asked.count, param: 'n' },
    inputImages: { value: inputImages, param: 'image' },
  });
  return model;
}

export async function prepareImage(
  model: HeldWork['model'],
  { asked: wanted, inputImages, inputs }: StreamedImage,
): Promise<PreparedImage> {
  const asked = { ...wanted, model: model.id };
  const tokens = measureImages({ ...asked, model, prompts: [asked.prompt], inputImages });
  return { asked, tokens, dimensions: imageDimensions(asked, inputImages), inputs: await inputs?.() };
}

/** The body for the upstream, limited to what the held price covers. */
export function streamedBody(
  { asked }: PreparedImage,
  { model, hold }: { model: HeldWork['model']; hold: Hold },
  channel: Channel,
): Body {
  const { partialImages } = asked;
  return { ...upstreamRequest({ asked, model, hold }, channel), stream: true, partial_images: partialImages };
}

export function streamedConversation(kind: 'imageStream' | 'editStream'): Conversation {
  return { kind, streamed: true, wantsUsage: true, maxOutputTokens: undefined, choices: 1, body: {} };
}
