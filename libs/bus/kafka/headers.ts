import type { KafkaMessage } from 'kafkajs';

export const headers = {
  version: 'version',
  correlationId: 'correlation-id',
  /** The instance that asked: everybody else skips the reply without reading it. */
  replyTo: 'reply-to',
  /** By the W3C's recommendation; absent where no client's call caused the message. */
  trace: 'traceparent',
} as const;

export function header(message: KafkaMessage, name: string): string | undefined {
  const value = message.headers?.[name];
  return (Array.isArray(value) ? value[0] : value)?.toString();
}
