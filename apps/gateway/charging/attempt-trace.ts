import type { CatalogModel, Channel } from '#catalog/catalog.js';
import type { Span, SpanPlan } from '#platform/tracing.js';
import type { CallOutcome } from '#upstream/health/channel-health.js';
import type { StreamKind } from '#upstream/outcomes.js';
import { upstreamModel } from './vendor-model.js';

/** The request to an upstream. */
export interface AskedWork {
  readonly operation: StreamKind | 'images' | 'edits' | 'video' | '3d' | 'count';
  readonly model: CatalogModel;
}

/** Follows OpenTelemetry's conventions for generative models, as far as they have a name. */
const PROVIDERS: Partial<Record<Channel['protocol'], string>> = {
  anthropic: 'anthropic',
  gemini: 'gcp.gemini',
  openai: 'openai',
  xai: 'x_ai',
};
const OPERATIONS: Partial<Record<AskedWork['operation'], string>> = {
  chat: 'chat',
  responses: 'chat',
  messages: 'chat',
  embeddings: 'embeddings',
};
const OUTPUTS: Partial<Record<AskedWork['operation'], string>> = {
  images: 'image',
  edits: 'image',
  speech: 'speech',
  video: 'video',
  '3d': '3d',
};

/** Traces an attempt at a channel. Its name also follows the conventions. */
export function attemptSpan(channel: Channel, { operation, model }: AskedWork): SpanPlan & { name: string } {
  const generic = OPERATIONS[operation] ?? 'generate_content';
  const facts = {
    'gen_ai.operation.name': generic,
    'gen_ai.provider.name': PROVIDERS[channel.protocol] ?? channel.protocol,
    'gen_ai.request.model': upstreamModel(channel, model),
    'gen_ai.output.type': OUTPUTS[operation],
    'tollgate.channel': channel.id,
    'tollgate.operation': operation,
  };
  return { name: `${generic} ${model.id}`, kind: 'client', facts };
}

/** @param isTaken whether the channel accepted the work */
export function noteAnswer(span: Span, outcome: CallOutcome, isTaken: boolean): void {
  span.note({ 'tollgate.outcome': outcome.kind, 'http.response.status_code': outcome.upstreamStatus });
  if (!isTaken) span.fail(outcome.kind);
}
