import { Controller } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Using } from '#platform/wiring.js';
import { ClientStream } from '../conversation/client-stream.js';
import { ConversationService } from '../conversation/conversation.service.js';
import { AnsweredPost, type ClientExchange, ExchangeOf } from '../http/caller.js';
import { invalid } from '../http/fields.js';
import { CHAT_BODY } from '../http/limits.js';
import { pathPart, queryOf } from '../http/path-part.js';
import { TokenCounter } from '../tokens/token-counter.js';
import { contentsBody, countedBody } from './contents-body.js';
import {
  countTokensOperation,
  generateContentOperation,
  streamGenerateContentOperation,
} from './contents.openapi.js';
import { CONTENTS_CALLS, noSuchCall, readTarget } from './google-request.js';

/** A path of its own, since its bodies are those of chats. */
const TARGET = `models/:target(^.+:(?:${CONTENTS_CALLS.join('|')})$)`;

interface ContentsCall extends ClientExchange {
  readonly model: string;
}

/** Conversations in Google's format, held and settled like all others, with the model and the streaming mode in the path. */
@Controller('v1beta')
export class ContentsController extends Using({ conversations: ConversationService, counter: TokenCounter }) {
  @AnsweredPost(TARGET, {
    ...CHAT_BODY,
    doc: [generateContentOperation, streamGenerateContentOperation, countTokensOperation],
  })
  async call(@ExchangeOf('sends') exchange: ClientExchange): Promise<void> {
    const { request } = exchange;
    const target = pathPart(request, 'target');
    const read = readTarget(target, CONTENTS_CALLS);
    if (read === null) throw noSuchCall(target);
    const { model, call } = read;
    if (call === 'countTokens') return this.count({ ...exchange, model });
    const stream = call === 'streamGenerateContent';
    if (stream) refuseOtherStreams(request);
    return this.converse({ ...exchange, model }, stream);
  }

  private async converse({ caller, model, request, reply }: ContentsCall, stream: boolean): Promise<void> {
    const { headers, id: requestId } = request;
    const body = contentsBody(request.body, { model, stream });
    const call = { caller, kind: 'contents' as const, body, headers, requestId };
    return this.conversations.converse(call, new ClientStream(reply));
  }

  private async count({ caller, model, request, reply }: ContentsCall): Promise<void> {
    const body = countedBody(request.body, model);
    const totalTokens = await this.counter.count({
      kind: 'contents',
      caller,
      body,
      headers: request.headers,
    });
    await reply.send({ totalTokens });
  }
}

/** Without it Google answers with one JSON array in pieces, which no SDK requests. */
function refuseOtherStreams(request: FastifyRequest): void {
  if (queryOf(request)['alt'] === 'sse') return;
  throw invalid('alt', 'must be sse: add ?alt=sse to the address, as SDKs do');
}
