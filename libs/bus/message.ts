import { validateSync } from 'class-validator';
import { BusRejected, InvalidMessage } from './bus.errors.js';
import { keepsRules } from './payload.check.js';
import { currentTrace } from '#platform/tracing.js';
import type { AnyTopic } from './topic.js';

/** A message in transit: text only, whatever the transport. */
export interface BusMessage {
  topic: string;
  key: string;
  version: string;
  value: string;
  /** The trace it belongs to, if any. */
  traceparent?: string | undefined;
}

/** Far larger than any of our payloads, and small enough that 500 of them fit into one Kafka request. */
const MAX_MESSAGE_BYTES = 64 * 1024;

/** @throws InvalidMessage if the payload is too large: it would also fail the messages sent with it. */
export function encodeMessage(topic: AnyTopic, payload: object): BusMessage {
  const message = rawMessage(topic, topic.key(payload), JSON.stringify(payload));
  if (message.key === '') throw new InvalidMessage(topic.name, 'its key is empty');
  return message;
}

/** A message whose payload is already JSON text, such as a row of the outbox. @throws InvalidMessage if too large. */
export function rawMessage(topic: AnyTopic, key: string, value: string): BusMessage {
  if (value.length > MAX_MESSAGE_BYTES || Buffer.byteLength(value) > MAX_MESSAGE_BYTES) {
    throw new InvalidMessage(topic.name, `larger than ${MAX_MESSAGE_BYTES} bytes`);
  }
  return { topic: topic.name, key, version: String(topic.version), value, traceparent: currentTrace() };
}

/**
 * The payload of an outbox row, with the trace that caused it. The relay takes the trace out and sends it as a header, so it
 * needs no column.
 */
export function withTrace<P extends object>(payload: P, traceparent: string | null | undefined): P {
  return traceparent ? { ...payload, traceparent } : payload;
}

/** Parses and validates a payload into an instance of its class. Unknown fields are ignored. @throws InvalidMessage */
export function decodePayload(topic: AnyTopic, version: string | undefined, value: string | null): object {
  if (version !== String(topic.version)) {
    throw new InvalidMessage(
      topic.name,
      `version ${version ?? 'missing'}, but ${topic.version} is understood`,
    );
  }
  return instanceOf(topic, topic.payload, parse(topic, value));
}

/** A reply in transit. */
export function encodeReply(result: unknown): string {
  return JSON.stringify({ ok: result });
}

export function encodeErrorReply(error: { code: string; message: string }): string {
  return JSON.stringify({ error });
}

/** @throws BusRejected if the handler failed for good, InvalidMessage if the reply does not fit its class. */
export function decodeReply(topic: AnyTopic, value: string | null): object {
  const envelope = parse(topic, value) as { ok?: unknown; error?: { code: string; message: string } };
  if (envelope.error) throw new BusRejected(envelope.error.code, envelope.error.message);
  if (!topic.reply) throw new InvalidMessage(topic.name, 'it is never answered');
  return instanceOf(topic, topic.reply, envelope.ok);
}

function parse(topic: AnyTopic, value: string | null): unknown {
  try {
    return JSON.parse(value ?? '');
  } catch {
    throw new InvalidMessage(topic.name, 'not JSON');
  }
}

function instanceOf(topic: AnyTopic, type: new () => object, value: unknown): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidMessage(topic.name, 'not a JSON object');
  }
  const instance = Object.setPrototypeOf(value, type.prototype as object) as object;
  if (keepsRules(type, instance)) return instance;
  const faults = validateSync(instance, { validationError: { target: false, value: false } });
  if (faults.length > 0) {
    throw new InvalidMessage(
      topic.name,
      faults.flatMap((fault) => Object.values(fault.constraints ?? {})).join('; '),
    );
  }
  return instance;
}
