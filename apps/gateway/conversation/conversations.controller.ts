import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '#identity/key-authenticator.js';
import type { StreamKind } from '#upstream/outcomes.js';
import { Using } from '#platform/wiring.js';
import { CallerOf, RouteRules } from '../http/caller.js';
import { asBody } from '../http/fields.js';
import { CHAT_BODY_BYTES, CHAT_PLAIN_BYTES } from '../http/limits.js';
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
  @Post('chat/completions')
  @HttpCode(200)
  @RouteRules({
    bodyLimit: CHAT_BODY_BYTES,
    plainLimit: CHAT_PLAIN_BYTES,
    doc: createChatCompletionOperation,
  })
  chat(
    @CallerOf() caller: Caller,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.converse('chat', { caller, request, reply });
  }

  @Post('responses')
  @HttpCode(200)
  @RouteRules({ bodyLimit: CHAT_BODY_BYTES, plainLimit: CHAT_PLAIN_BYTES, doc: createResponseOperation })
  respond(
    @CallerOf() caller: Caller,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.converse('responses', { caller, request, reply });
  }

  /** Anthropic's clients add `/v1` themselves, so their base URL has no `/v1`. */
  @Post('messages')
  @HttpCode(200)
  @RouteRules({ bodyLimit: CHAT_BODY_BYTES, plainLimit: CHAT_PLAIN_BYTES, doc: createMessageOperation })
  message(
    @CallerOf() caller: Caller,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.converse('messages', { caller, request, reply });
  }

  @Post('audio/speech')
  @HttpCode(200)
  @RouteRules({ doc: createSpeechOperation })
  speak(
    @CallerOf() caller: Caller,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.converse('speech', { caller, request, reply });
  }

  @Post('embeddings')
  @HttpCode(200)
  @RouteRules({ bodyLimit: CHAT_PLAIN_BYTES, plainLimit: CHAT_PLAIN_BYTES, doc: createEmbeddingOperation })
  embed(
    @CallerOf() caller: Caller,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.converse('embeddings', { caller, request, reply });
  }

  private converse(
    kind: StreamKind,
    { caller, request, reply }: { caller: Caller; request: FastifyRequest; reply: FastifyReply },
  ): Promise<void> {
    const { headers, body, id: requestId } = request;
    const call = { caller, kind, body: asBody(body), headers, requestId };
    return this.conversations.converse(call, new ClientStream(reply));
  }
}
