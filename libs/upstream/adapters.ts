import type { Channel, ChannelProtocol } from '#catalog/catalog.js';
import { UpstreamConnections } from './connections.js';
import { type ImageBytes, readImageBytes } from './image-bytes.js';
import { OpenAiXaiAdapter } from './openai-xai/openai-xai.adapter.js';
import type { UpstreamImage } from './outcomes.js';

/** What every protocol's adapter can do; so far there is one protocol. */
export type UpstreamAdapter = OpenAiXaiAdapter;

/** The adapters of every wire protocol over shared connections. One per program, closed at its end. */
export class Upstreams {
  private readonly connections = new UpstreamConnections();
  private readonly adapters: Record<ChannelProtocol, UpstreamAdapter> = {
    'openai-xai': new OpenAiXaiAdapter(this.connections),
  };

  adapterFor(protocol: ChannelProtocol): UpstreamAdapter {
    return this.adapters[protocol];
  }

  /** The bytes of a delivered image and their real type. @throws FileUnavailable */
  fetchImage(channel: Channel, image: UpstreamImage, signal: AbortSignal): Promise<ImageBytes> {
    return readImageBytes(this.connections, channel, { ...image, signal });
  }

  /** Breaks every connection; calls under way end as `unknown` or `no_answer`. */
  close(): Promise<void> {
    return this.connections.close();
  }
}
