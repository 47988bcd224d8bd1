import type { Catalog, CatalogModel } from '#catalog/catalog.js';
import { channelsFree } from '../charging/channel-entry.js';
import { requiredString } from '../http/fields.js';
import { MAX_MODEL_CHARS } from '../http/limits.js';
import { modelForGroup, notSupportedHere, refuseOtherFamily } from '../http/model-access.js';
import { refuseBeyondLimits } from '../http/model-limits.js';
import { dearestInput } from './cache-writes.js';
import type { ConversationCall, ConversationParts, ModelCall, Prepared } from './conversation.call.js';
import { isLimitOfEach, measuresOf, refuseUnmeasured } from './conversation-limits.js';
import { readConversation, withModelsLimit } from './conversation-request.js';
import { estimateInput } from '#catalog/token-estimate.js';
import { estimateAnswer, measureSpeech } from './answer-estimate.js';

/** Reads and measures what is asked, before any money is held. @throws ApiError for what may not be asked */
export async function prepare(parts: ConversationParts, call: ModelCall): Promise<Prepared> {
  const { catalog, clock } = parts;
  const { limitAtMs } = call.turns;
  const current = await catalog.get();
  const { kind, caller, body } = call;
  const model = modelFor(current, call);
  refuseOtherFamily(model, kind === 'speech' ? 'speech' : 'chat');
  const channels = channelsFree(parts, current, { model, caller, capability: kind });
  const asked = withModelsLimit(readConversation(kind, body), model.limits);
  const ofEach = isLimitOfEach(model, kind);
  const input = estimateInput(asked.body, ofEach ? {} : model.limits);
  const output = estimateAnswer(asked, model.limits);
  const measures = measuresOf(asked, input, measureSpeech(asked, model.limits));
  refuseBeyondLimits(model, ofEach ? { ...measures, inputTokens: undefined } : measures);
  refuseUnmeasured(model, asked, input);
  const priced = { catalog: current, model, group: caller.group, atMs: clock.nowMs() };
  const dearest = dearestInput(asked, priced);
  await call.checkPictures();
  return { ...call, asked, model, channels, limitAtMs, input, output, dearest };
}

/** A video model is refused by its name whatever the key's group. */
function modelFor(catalog: Catalog, { body, caller }: ConversationCall): CatalogModel {
  const id = requiredString(body, 'model', MAX_MODEL_CHARS);
  const named = catalog.models.get(id);
  if (named?.family === 'video') throw notSupportedHere(named);
  return modelForGroup(catalog, id, caller.group);
}
