import type { Catalog, CatalogModel } from '#catalog/catalog.js';
import { estimateInput } from '#catalog/token-estimate.js';
import { ApiError } from '#platform/errors.js';
import { dearestKinds } from '#pricing/held-kinds.js';
import type { ImageStreamKind, StreamKind, WrittenKind } from '#upstream/outcomes.js';
import { channelsFree } from '../charging/channel-entry.js';
import { MODEL } from '../http/declared-body.js';
import { modelForGroup, notSupportedHere, refuseOtherFamily } from '../http/model-access.js';
import { refuseBeyondLimits } from '#catalog/model-limits.js';
import {
  imageModel,
  prepareImage,
  type StreamedImage,
  streamedConversation,
} from '../images/image-stream.js';
import { secondsHeld, textBeside, withSound, withWritten } from '../transcriptions/sound-estimate.js';
import { dearestInput } from './cache-writes.js';
import type { ConversationCall, ConversationParts, ModelCall, Prepared } from './conversation.call.js';
import { isLimitOfEach, measuresOf, refuseUnheard, refuseUnmeasured } from './conversation-limits.js';
import { isOfImages, readConversation, withModelsLimit } from './conversation-request.js';
import { estimateAnswer, measureSpeech } from './answer-estimate.js';

/** Reads and measures the request before any credits are held. @throws ApiError if it is not permitted */
export async function prepare(parts: ConversationParts, call: ModelCall): Promise<Prepared> {
  const { kind, image } = call;
  if (image && isOfImages(kind)) return prepareStreamedImage(parts, { ...call, kind, image });
  if (isOfImages(kind)) throw new Error('an image that was not read');
  return prepareText(parts, { ...call, kind });
}

async function prepareStreamedImage(
  parts: ConversationParts,
  call: ModelCall & { kind: ImageStreamKind; image: StreamedImage },
): Promise<Prepared> {
  const current = await parts.catalog.get();
  const { kind, caller, body, image, turns } = call;
  const id = MODEL.read(body, 'model');
  const model = imageModel(current, image, { id, group: caller.group });
  const channels = channelsFree(parts, current, { model, caller, capability: kind });
  const madeOf = await prepareImage(model, image);
  const nothing = { most: 0n, likely: 0n };
  const estimated = { input: nothing, output: nothing, dearest: 'input', seconds: undefined } as const;
  const heldAs = { input: 'input', output: 'output' } as const;
  const asked = streamedConversation(kind);
  return { ...call, ...estimated, heldAs, asked, madeOf, model, channels, limitAtMs: turns.limitAtMs };
}

async function prepareText(
  parts: ConversationParts,
  call: ModelCall & { kind: WrittenKind },
): Promise<Prepared> {
  const { catalog } = parts;
  const { limitAtMs } = call.turns;
  const current = await catalog.get();
  const { kind, caller, body, sound } = call;
  const model = modelFor(current, call);
  refuseOtherKind(model, kind);
  const channels = channelsFree(parts, current, { model, caller, capability: kind });
  const asked = withModelsLimit(readConversation(kind, body), model.limits);
  const ofEach = isLimitOfEach(model, kind);
  const text = estimateInput(sound ? textBeside(asked.body) : asked.body, ofEach ? {} : model.limits);
  const input = sound ? withSound(text, sound.seconds, model.limits) : text;
  const seconds = sound && secondsHeld(sound.seconds, model.limits);
  const answer = estimateAnswer(asked, model.limits);
  const output = sound ? withWritten(answer, sound.seconds, model.limits) : answer;
  const measures = measuresOf(asked, input, measureSpeech(asked, model.limits));
  refuseBeyondLimits(model, ofEach ? { ...measures, inputTokens: undefined } : measures);
  refuseUnmeasured(model, asked, input);
  if (sound) refuseUnheard(model, asked, sound.seconds);
  const priced = { catalog: current, model, group: caller.group, atMs: catalog.nowMs() };
  const dearest = dearestInput(asked, priced);
  const heldAs = dearestKinds(current.priceBook, { ...priced, model: model.id }, dearest);
  await call.checkImages();
  return { ...call, asked, model, channels, limitAtMs, input, output, dearest, heldAs, seconds };
}

/** Transcription can be priced by the second, speech never: the catalog has one type for both. */
function refuseOtherKind(model: CatalogModel, kind: StreamKind): void {
  const isHearing = kind === 'transcription' || kind === 'translation';
  refuseOtherFamily(model, isHearing || kind === 'speech' ? 'speech' : 'chat');
  if (isHearing || model.unit !== 'second') return;
  const message = `${model.id} is priced by the second of audio that it hears. Use POST /v1/audio/transcriptions.`;
  throw new ApiError('model_not_supported_here', message, { param: 'model' });
}

/** A video model is refused by name, regardless of the key's group. */
function modelFor(catalog: Catalog, { body, caller }: ConversationCall): CatalogModel {
  const id = MODEL.read(body, 'model');
  const named = catalog.models.get(id);
  if (named?.family === 'video') throw notSupportedHere(named);
  return modelForGroup(catalog, id, caller.group);
}
