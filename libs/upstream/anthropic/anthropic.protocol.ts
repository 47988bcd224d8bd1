import type { Channel } from '#catalog/catalog.js';
import { ChannelCalls } from '../channel-calls.js';
import type { VerdictRow } from '../classification.js';
import type { UpstreamConnections } from '../connections.js';
import type { Protocol } from '../protocol.js';

/** "overloaded_error": Anthropic refuses so before any work. */
const verdicts: readonly VerdictRow[] = [{ from: 529, to: 529, verdict: 'safe_if_vendor_says' }];

/** Anthropic: messages, passed through. */
export class AnthropicProtocol implements Protocol {
  readonly calls: ChannelCalls;
  readonly streams = {
    messages: {
      path: '/v1/messages',
      headers: { 'anthropic-version': '2023-06-01' },
      clientHeaders: ['anthropic-version', 'anthropic-beta'],
    },
  };

  constructor(connections: UpstreamConnections) {
    this.calls = new ChannelCalls(connections, { credentials, verdicts });
  }
}

function credentials({ apiKey }: Channel): Record<string, string> {
  return { 'x-api-key': apiKey };
}
