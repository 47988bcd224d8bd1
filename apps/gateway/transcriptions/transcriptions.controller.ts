import { Controller, HttpCode, Post } from '@nestjs/common';
import type { HearingKind } from '#upstream/outcomes.js';
import { Using } from '#platform/wiring.js';
import { ClientStream } from '../conversation/client-stream.js';
import { ConversationService } from '../conversation/conversation.service.js';
import { type ClientExchange, ExchangeOf, RouteRules } from '../http/caller.js';
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
  transcribe(@ExchangeOf('sends') exchange: ClientExchange): Promise<void> {
    return this.hear('transcription', exchange);
  }

  @Post('translations')
  @HttpCode(200)
  @RouteRules({
    bodyLimit: SOUND_BODY_BYTES,
    plainLimit: PLAIN_BODY_BYTES,
    multipart: SOUND_FORM,
    doc: createTranslationOperation,
  })
  translate(@ExchangeOf('sends') exchange: ClientExchange): Promise<void> {
    return this.hear('translation', exchange);
  }

  private async hear(kind: HearingKind, { caller, request, reply }: ClientExchange): Promise<void> {
    const client = new ClientStream(reply);
    const entries: FormEntry[] = request.isMultipart() ? await readForm(request) : [];
    const { headers, id: requestId } = request;
    const sound = await soundOf(entries);
    const call = { caller, kind, headers, requestId, sound, body: hearingFields(entries) };
    return this.conversations.converse(call, client);
  }
}
