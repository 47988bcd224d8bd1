import type { HeldKinds, InputKind } from '#pricing/held-kinds.js';
import type { TokenCounts } from '#pricing/token-kinds.js';
import type { UsageMeter } from '#upstream/usage-meter.js';
import type { CatalogModel } from '#catalog/catalog.js';
import type { Ending } from './answer.relay.js';
import { LIKELY_TOKENS_PER_SECOND } from '../transcriptions/sound-estimate.js';
import type { SoundSeconds } from '../transcriptions/sound-file.js';
import type { PreparedImage } from '../images/image-stream.js';
import type { Conversation } from './conversation-request.js';
import type { TokenEstimate } from '#catalog/token-estimate.js';

/** The content delivered and charged. */
export interface DeliveredAnswer {
  /** In the model's unit: answers if priced by the call, seconds if audio is priced by the second, 1 if priced by the token. */
  units: bigint;
  tokens: TokenCounts | undefined;
}

export interface Estimated {
  model: CatalogModel;
  asked: Conversation;
  input: TokenEstimate;
  output: TokenEstimate;
  /** The highest price that input text can have. */
  dearest: InputKind;
  /** The tokens to hold for, by the types that the model has prices for. */
  heldAs: HeldKinds;
  /** Of an image that is streamed, what it takes in tokens. */
  madeOf?: Pick<PreparedImage, 'tokens'>;
  /** The length of the audio input. Undefined if there is none. */
  seconds: SoundSeconds | undefined;
}

/** The most that the call can use, for which credits are held. */
export function mostTokens({
  input,
  output,
  heldAs,
  madeOf,
}: Pick<Estimated, 'input' | 'output' | 'heldAs' | 'madeOf'>): TokenCounts {
  if (madeOf) return madeOf.tokens.most;
  return { ...NO_TOKENS, [heldAs.input]: input.most, [heldAs.output]: output.most };
}

/** The likely usage by type: for transcriptions the audio apart from the text, for speech the audio. */
function likelyTokens({ asked, input, output, seconds }: Estimated): TokenCounts {
  const sound = seconds ? seconds.likely * LIKELY_TOKENS_PER_SECOND : 0n;
  const heard = sound < input.likely ? sound : input.likely;
  const text = { ...NO_TOKENS, input: input.likely - heard, ...(heard > 0n && { audioInput: heard }) };
  return asked.kind === 'speech'
    ? { ...text, audioOutput: output.likely }
    : { ...text, output: output.likely };
}

const NO_INPUT = { input: 0n, audioInput: 0n };
const NO_TOKENS: TokenCounts = { input: 0n, cachedInput: 0n, output: 0n };

/** The units to hold: every answer is a separate call; for audio the most seconds, for tokens 1. */
export function unitsOf({ model, asked, seconds }: Pick<Estimated, 'model' | 'asked' | 'seconds'>): bigint {
  if (model.unit === 'second') return seconds?.most ?? 1n;
  return model.unit === 'call' ? BigInt(asked.choices) : 1n;
}

/**
 * What was delivered, if anything. A complete answer is billed by the upstream's report. One that the client left and that could
 * not be read to its end is billed by what was streamed and the most input, so that no client gains by leaving. A broken one is
 * billed by what was streamed. What cannot be counted in transit, such as a call or audio, counts as not delivered then.
 */
export function deliveryOf(estimated: Estimated, ending: Ending, meter: UsageMeter): DeliveredAnswer | null {
  const { model, asked, input, heldAs } = estimated;
  const isPriced = model.unit === 'token';
  // An image is delivered completely or not at all, whatever was streamed before.
  if (estimated.madeOf) return imageOf(estimated.madeOf, isPriced, meter);
  const isCounted = isPriced && asked.kind !== 'speech';
  const isPassed = isCounted && asked.streamed && meter.streamed() > 0n;
  if (ending.how === 'broken' && !isPassed) return null;
  const units = ending.how === 'left' ? unitsOf(estimated) : unitsUsed(estimated, meter);
  if (!isPriced) return { units, tokens: undefined };
  // Sound that is no event stream reports no usage at its end either.
  const isEstimated = asked.kind === 'speech' && !asked.streamed;
  const isCutShort = ending.how === 'left' && !isEstimated;
  const likely = likelyTokens(estimated);
  const cutShort = { ...likely, ...NO_INPUT, [heldAs.input]: input.most };
  return { units, tokens: meter.billable(isCutShort ? cutShort : likely) };
}

function imageOf(
  { tokens }: Pick<PreparedImage, 'tokens'>,
  isPriced: boolean,
  meter: UsageMeter,
): DeliveredAnswer | null {
  if (meter.answers === 0 || meter.end !== 'complete') return null;
  return { units: 1n, tokens: isPriced ? (meter.reported() ?? tokens.likely) : undefined };
}

/** The delivered units, at most those held. For audio these are the seconds that the vendor reports, otherwise its length. */
function unitsUsed(estimated: Estimated, meter: UsageMeter): bigint {
  const held = unitsOf(estimated);
  const { model, seconds } = estimated;
  const answers = BigInt(Math.max(meter.answers, 1));
  const used = model.unit === 'second' ? (meter.seconds ?? seconds?.likely ?? 1n) : answers;
  if (used > held) return held;
  return used < 1n ? 1n : used;
}
