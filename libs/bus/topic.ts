/**
 * A topic is declared once; producers and consumers take their types from the declaration, so that a wrong payload or
 * reply does not compile. The declarations themselves are in topics.ts.
 */

/** `request`: answered. `event`: not answered. `either`: a request whose answer is optional for the sender. */
export type TopicKind = 'request' | 'event' | 'either';

export interface Topic<P extends object, R = unknown, K extends TopicKind = TopicKind> {
  readonly name: string;
  /** One sentence. */
  readonly about: string;
  /** Programs that send it; the command line acts on their behalf. */
  readonly from: readonly string[];
  /** Sent as a header. A consumer with another version treats the message as unreadable. */
  readonly version: number;
  readonly kind: K;
  readonly payload: new () => P;
  /** Null for events. */
  readonly reply: (new () => R) | null;
  /** Fixed when the topic is created: another count would move keys to other partitions and lose their order. */
  readonly partitions: number;
  /** Programs that each see every message once; a request has exactly one, an event may have none. */
  readonly groups: readonly string[];
  /** True: every instance of a group sees every message from the moment it listens. */
  readonly broadcast: boolean;
  /** False if a message that cannot be handled is only answered with an error and must never be replayed. */
  readonly deadLetters: boolean;
  /** Messages of one key keep their order within the topic. */
  key(payload: P): string;
  /** The subject of the message (a charge, a task, a key), for logs and dead letters. */
  id(payload: P): string;
}

// oxlint-disable-next-line typescript/no-explicit-any -- a set of topics holds many payload classes at once
export type AnyTopic = Topic<any, any>;
export type RequestTopic<P extends object, R> = Topic<P, R, 'request' | 'either'>;
export type EventTopic<P extends object> = Topic<P, unknown, 'event' | 'either'>;

interface TopicDeclaration<P extends object, R, K extends TopicKind> {
  name: string;
  about: string;
  from: readonly string[];
  version: number;
  kind: K;
  payload: new () => P;
  reply?: new () => R;
  partitions: number;
  groups: readonly string[];
  broadcast?: boolean;
  deadLetters?: boolean;
  key: (payload: P) => string;
  id: (payload: P) => string;
}

/** Declares a topic. @throws Error when the declaration contradicts itself. */
export function topic<P extends object, R, const K extends TopicKind>(
  declaration: TopicDeclaration<P, R, K>,
): Topic<P, R, K> {
  const { name, kind, groups } = declaration;
  const answered = kind !== 'event';
  if (answered !== (declaration.reply !== undefined)) {
    throw new Error(`Topic ${name}: a reply class belongs to requests, and every request needs one.`);
  }
  if (answered && groups.length !== 1) {
    throw new Error(`Topic ${name}: a request is answered by exactly one consumer group.`);
  }
  return Object.freeze({
    broadcast: false,
    deadLetters: true,
    ...declaration,
    reply: declaration.reply ?? null,
  });
}
