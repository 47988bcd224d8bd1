import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '#identity/key-authenticator.js';
import type { HearingKind } from '#upstream/outcomes.js';
import { Using } from '#platform/wiring.js';
import { ClientStream } from '../conversation/client-stream.js';
import { ConversationService } from '../conversation/conversation.service.js';
import { CallerOf, RouteRules } from '../http/caller.js';
import { PLAIN_BODY_BYTES, SOUND_BODY_BYTES, SOUND_FORM } from '../http/limits.js';
import { type FormEntry, readForm } from '../http/multipart-body.js';
import { soundOf } from './sound-file.js';
import { hearingFields } from './transcription-fields.js';
import { createTranscriptionOperation, createTranslationOperation } from './transcriptions.openapi.js';

/** Audio to text: forms with one file, passed through like conversations. */
@Controller('v1/audio')
export class TranscriptionsController extends Using({ conversations: ConversationService }) {
  @Post('transcriptions')
  @HttpCode(200)
  @RouteRules({
    bodyLimit: SOUND_BODY_BYTES,
    plainLimit: PLAIN_BODY_BYTES,
    multipart: SOUND_FORM,
    doc: createTranscriptionOperation,
  })
  transcribe(
    @CallerOf() caller: Caller,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.hear('transcription', { caller, request, reply });
  }

  @Post('translations')
  @HttpCode(200)
  @RouteRules({
    bodyLimit: SOUND_BODY_BYTES,
    plainLimit: PLAIN_BODY_BYTES,
    multipart: SOUND_FORM,
    doc: createTranslationOperation,
  })
  translate(
    @CallerOf() caller: Caller,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.hear('translation', { caller, request, reply });
  }

  private async hear(
    kind: HearingKind,
    { caller, request, reply }: { caller: Caller; request: FastifyRequest; reply: FastifyReply },
  ): Promise<void> {
    const client = new ClientStream(reply);
    const entries: FormEntry[] = request.isMultipart() ? await readForm(request) : [];
    const { headers, id: requestId } = request;
    const sound = await soundOf(entries);
    const call = { caller, kind, headers, requestId, sound, body: hearingFields(entries) };
    return this.conversations.converse(call, client);
  }
}
