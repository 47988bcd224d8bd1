import type { Channel } from '#catalog/catalog.js';
import { readCount } from '../answers.js';
import { ChannelCalls } from '../channel-calls.js';
import type { VerdictRow } from '../classification.js';
import type { UpstreamConnections } from '../connections.js';
import type { CountOutcome, CountRequest } from '../outcomes.js';
import type { Protocol } from '../protocol.js';
import { streamHeaders } from '../stream-route.js';

/** "overloaded_error": Anthropic refuses like this before any work. */
const verdicts: readonly VerdictRow[] = [{ from: 529, to: 529, verdict: 'given_up' }];

/**
 * Betas that do not change prices. Others are not passed on: some cost more (longer contexts, faster answers), and a
 * beta without its field does nothing.
 */
const FREE_BETA = new RegExp(
  `^(${[
    'prompt-caching',
    'extended-cache-ttl',
    'interleaved-thinking',
    'fine-grained-tool-streaming',
    'token-efficient-tools',
    'output-128k',
    'max-tokens-3-5-sonnet',
    'pdfs',
    'structured-outputs',
    'effort',
    'context-management',
    'claude-code',
    'oauth',
  ].join('|')})-\\d{4}-?\\d{2}-?\\d{2}$`,
);

function freeBetas(header: string): string | undefined {
  const betas = header.split(',').map((beta) => beta.trim());
  return betas.filter((beta) => FREE_BETA.test(beta)).join(',') || undefined;
}

/** Anthropic: messages, passed through, and token counts. */
export class AnthropicProtocol implements Protocol {
  static readonly families = ['chat'] as const;
  readonly probe = { path: '/v1/models?limit=1', headers: { 'anthropic-version': '2023-06-01' } };
  readonly calls: ChannelCalls;
  readonly streams = {
    messages: {
      path: '/v1/messages',
      headers: { 'anthropic-version': '2023-06-01' },
      clientHeaders: { 'anthropic-version': (version: string) => version, 'anthropic-beta': freeBetas },
    },
  };

  constructor(connections: UpstreamConnections) {
    this.calls = new ChannelCalls(connections, { credentials, verdicts });
  }

  async countTokens(channel: Channel, request: CountRequest, signal: AbortSignal): Promise<CountOutcome> {
    return this.calls.create<CountOutcome>(channel, '/v1/messages/count_tokens', {
      body: { json: { ...request.body, model: request.model } },
      headers: streamHeaders(this.streams.messages, request),
      signal,
      isFree: true,
      read: (answer) => readCount(answer, 'input_tokens'),
    });
  }
}

function credentials({ apiKey }: Channel): Record<string, string> {
  return { 'x-api-key': apiKey };
}
