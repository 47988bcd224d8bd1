import { Controller } from '@nestjs/common';
import type { StreamKind } from '#upstream/outcomes.js';
import { Using } from '#platform/wiring.js';
import { AnsweredPost, type ClientExchange, ExchangeOf } from '../http/caller.js';
import { asBody } from '../http/fields.js';
import { CHAT_BODY, CHAT_PLAIN_BYTES } from '../http/limits.js';
import { ClientStream } from './client-stream.js';
import { ConversationService } from './conversation.service.js';
import {
  createChatCompletionOperation,
  createEmbeddingOperation,
  createMessageOperation,
  createResponseOperation,
  createSpeechOperation,
} from './conversations.openapi.js';

/** The pass-through paths. Each answers 200, completely or as a stream. An error before the first byte has its own status. */
@Controller('v1')
export class ConversationsController extends Using({ conversations: ConversationService }) {
  @AnsweredPost('chat/completions', { ...CHAT_BODY, doc: createChatCompletionOperation })
  chat(@ExchangeOf('sends') exchange: ClientExchange): Promise<void> {
    return this.converse('chat', exchange);
  }

  @AnsweredPost('responses', { ...CHAT_BODY, doc: createResponseOperation })
  respond(@ExchangeOf('sends') exchange: ClientExchange): Promise<void> {
    return this.converse('responses', exchange);
  }

  /** Anthropic's clients add `/v1` themselves, so their base URL has no `/v1`. */
  @AnsweredPost('messages', { ...CHAT_BODY, doc: createMessageOperation })
  message(@ExchangeOf('sends') exchange: ClientExchange): Promise<void> {
    return this.converse('messages', exchange);
  }

  @AnsweredPost('audio/speech', { doc: createSpeechOperation })
  speak(@ExchangeOf('sends') exchange: ClientExchange): Promise<void> {
    return this.converse('speech', exchange);
  }

  @AnsweredPost('embeddings', {
    bodyLimit: CHAT_PLAIN_BYTES,
    plainLimit: CHAT_PLAIN_BYTES,
    doc: createEmbeddingOperation,
  })
  embed(@ExchangeOf('sends') exchange: ClientExchange): Promise<void> {
    return this.converse('embeddings', exchange);
  }

  private converse(kind: StreamKind, { caller, request, reply }: ClientExchange): Promise<void> {
    const { headers, body, id: requestId } = request;
    const call = { caller, kind, body: asBody(body), headers, requestId };
    return this.conversations.converse(call, new ClientStream(reply));
  }
}
