import { Controller, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '#identity/key-authenticator.js';
import { Using } from '#platform/wiring.js';
import { AnsweredPost, CallerOf } from '../http/caller.js';
import { asBody } from '../http/fields.js';
import { CHAT_BODY } from '../http/limits.js';
import { countMessageTokensOperation } from './token-count.openapi.js';
import { TokenCounter } from './token-counter.js';

/** Counts the tokens of a message before it is sent. */
@Controller('v1/messages')
export class TokenCountController extends Using({ counter: TokenCounter }) {
  @AnsweredPost('count_tokens', {
    paid: false,
    counted: true,
    ...CHAT_BODY,
    doc: countMessageTokensOperation,
  })
  async count(
    @CallerOf() caller: Caller,
    @Req() { body, headers }: FastifyRequest,
  ): Promise<{ input_tokens: number }> {
    return {
      input_tokens: await this.counter.count({ kind: 'messages', caller, body: asBody(body), headers }),
    };
  }
}
