import type { Channel } from '#catalog/catalog.js';
import { crashPoint } from '#platform/crash-points.js';
import type { StreamOutcome } from '#upstream/outcomes.js';
import { workOf } from '../charging/channel-entry.js';
import { inClientsName, upstreamModel } from '../charging/vendor-model.js';
import { streamedBody } from '../images/image-stream.js';
import type { ClientStream } from './client-stream.js';
import type { ConversationParts, ConversationFailure, Held, Opened } from './conversation.call.js';
import { isGradual } from './conversation-request.js';

export interface OpeningParts extends Pick<ConversationParts, 'calls' | 'upstreams' | 'metrics'> {
  /** Called for each channel that did not answer. */
  noteFailure(held: Held, failure: ConversationFailure): void;
}

/** Calls the channels in turn until one of them begins to answer. */
export class ConversationOpening {
  constructor(private readonly parts: OpeningParts) {}

  async open(held: Held, client: ClientStream): Promise<Opened | ConversationFailure> {
    const { left } = client;
    const { last } = await this.parts.calls.askInTurn<StreamOutcome, 'answer'>(held.entry, {
      work: workOf(held.caller, held.model),
      asked: { operation: held.kind, model: held.model },
      taken: 'answer',
      mayAsk: () => !held.stop.aborted && !(left.aborted && isGradual(held.asked)),
      ask: (channel) => this.askUpstream(held, channel),
      onFailure: (failure, { id: channel }) => {
        if (!left.aborted) this.parts.noteFailure(held, { ...failure, channel });
      },
      isGivenUp: () => held.stop.aborted && left.aborted,
    });
    if (!last) return notInTime;
    const { outcome, channel } = last;
    if (outcome.kind !== 'answer') return { ...outcome, channel: channel.id };
    return { ...outcome, channel: channel.id, model: upstreamModel(channel, held.model) };
  }

  private async askUpstream(held: Held, channel: Channel): Promise<StreamOutcome> {
    const { upstreams, metrics } = this.parts;
    const { kind, headers, asked, model, stop, sound, madeOf } = held;
    const timed = metrics.upstreamSeconds.startTimer({ channel: channel.id, operation: kind });
    crashPoint('upstream.before');
    const request = {
      kind,
      model: upstreamModel(channel, model),
      body: madeOf ? streamedBody(madeOf, held, channel) : asked.body,
      file: sound,
      pictures: madeOf?.inputs,
      ...(headers && { headers }),
    };
    const outcome = await upstreams.adapterFor(channel.protocol).openStream(channel, request, stop);
    timed({ outcome: outcome.kind });
    return inClientsName(outcome, channel, model);
  }
}

const notInTime: ConversationFailure = {
  kind: 'not_accepted',
  reason: 'no time was left',
  upstreamStatus: null,
  channel: null,
};
