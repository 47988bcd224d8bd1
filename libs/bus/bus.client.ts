import { ClientProxy, type ReadPacket, type WritePacket } from '@nestjs/microservices';
import { BusUnavailable } from './bus.errors.js';
import { decodeReply, encodeMessage, type BusMessage } from './message.js';
import type { AnyTopic } from './topic.js';

/** The end of a topic at some moment. Opaque: only the transport that created it can read it. */
export interface ReadMarker {
  readonly topic: string;
  readonly offsets: readonly (readonly [partition: number, offset: string])[];
}

/** A pending answer. Once forgotten, an answer has no effect. */
export interface PendingAnswer<R> {
  readonly value: Promise<R>;
  readonly forget: () => void;
}

/** The sending end, behind Nest's interface. The pattern is the topic's name, the data its payload. */
export abstract class BusClient extends ClientProxy {
  private readonly topicsByName: ReadonlyMap<string, AnyTopic>;

  constructor(topics: readonly AnyTopic[]) {
    super();
    this.topicsByName = new Map(topics.map((topic) => [topic.name, topic]));
  }

  abstract override connect(): Promise<void>;
  abstract override close(): Promise<void>;

  /** Sends a request. `settle` gets the reply's text or an error, at most once. Returns a function that forgets the request. */
  protected abstract ask(
    message: BusMessage,
    settle: (error: unknown, reply: string | null) => void,
  ): () => void;

  /** Resolves when the message is durable. @throws BusUnavailable */
  abstract tell(message: BusMessage): Promise<void>;

  /** Marks the current end of a topic. */
  abstract endOffsets(topic: string): Promise<ReadMarker>;

  /** True when the group has handled everything before the marker, and will not handle it again. */
  abstract hasConsumedPast(group: string, marker: ReadMarker): Promise<boolean>;

  /** Resolves when messages can be sent and answered. @throws Error with a message for the operator. */
  abstract health(): Promise<void>;

  /** @throws BusUnavailable for an unknown topic. */
  topicNamed(name: string): AnyTopic {
    const topic = this.topicsByName.get(name);
    if (!topic) throw new BusUnavailable(`${name} is not a topic of this bus`);
    return topic;
  }

  /** `send` as a promise. In process, observables would take longer than everything else about a message. */
  request<R>(topic: string, payload: object): PendingAnswer<R> {
    let isForgotten = false;
    let drop = (): void => undefined;
    const value = this.connect().then(
      () =>
        new Promise<R>((resolve, reject) => {
          if (isForgotten) return;
          drop = this.publish({ pattern: topic, data: payload }, ({ err, response }) => {
            if (err === undefined) resolve(response as R);
            else reject(err as Error);
          });
        }),
    );
    const forget = (): void => {
      isForgotten = true;
      drop();
    };
    return { value, forget };
  }

  /** `emit` as a promise. */
  async announce(topic: string, payload: object): Promise<void> {
    await this.connect();
    await this.dispatchEvent({ pattern: topic, data: payload });
  }

  protected override publish(
    packet: ReadPacket<object>,
    callback: (packet: WritePacket) => void,
  ): () => void {
    try {
      const topic = this.topicNamed(packet.pattern as string);
      return this.ask(encodeMessage(topic, packet.data), (error, reply) => {
        callback(error === null ? answer(topic, reply) : { err: error });
      });
    } catch (error) {
      callback({ err: error });
      return () => undefined;
    }
  }

  protected override async dispatchEvent<T>(packet: ReadPacket<object>): Promise<T> {
    await this.tell(encodeMessage(this.topicNamed(packet.pattern as string), packet.data));
    return undefined as T;
  }
}

function answer(topic: AnyTopic, reply: string | null): WritePacket {
  try {
    return { response: decodeReply(topic, reply), isDisposed: true };
  } catch (error) {
    return { err: error };
  }
}
