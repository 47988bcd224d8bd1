import { Controller } from '@nestjs/common';
import type { HearingKind } from '#upstream/outcomes.js';
import { Using } from '#platform/wiring.js';
import { ClientStream } from '../conversation/client-stream.js';
import { ConversationService } from '../conversation/conversation.service.js';
import { AnsweredPost, type ClientExchange, ExchangeOf } from '../http/caller.js';
import { SOUND_BODY } from '../http/limits.js';
import { type FormEntry, readForm } from '../http/multipart-body.js';
import { soundOf } from './sound-file.js';
import { hearingFields } from './transcription-fields.js';
import { createTranscriptionOperation, createTranslationOperation } from './transcriptions.openapi.js';

/** Audio to text: forms with one file, passed through like conversations. */
@Controller('v1/audio')
export class TranscriptionsController extends Using({ conversations: ConversationService }) {
  @AnsweredPost('transcriptions', { ...SOUND_BODY, doc: createTranscriptionOperation })
  transcribe(@ExchangeOf('sends') exchange: ClientExchange): Promise<void> {
    return this.hear('transcription', exchange);
  }

  @AnsweredPost('translations', { ...SOUND_BODY, doc: createTranslationOperation })
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
