import { setTimeout as pause } from 'node:timers/promises';
import type { Admin, ITopicConfig, ITopicMetadata } from 'kafkajs';
import { BusWiringError } from '../bus.errors.js';
import type { AnyTopic } from '../topic.js';

/** The replies to all gateways. Each gateway reads all and keeps its own. */
export const REPLY_TOPIC = 'tollgate.replies';
const REPLY_PARTITIONS = 3;
/** Replies are useful for seconds. If one is lost, the request is repeated. */
const REPLY_RETENTION_MS = 10 * 60_000;
/** Dead letters are kept for ninety days, until someone handles them. */
const DEAD_LETTER_RETENTION_MS = 90 * 24 * 3_600_000;

/** How long a busy broker may take to create topics. Shorter than the time limit of a connection. */
const CREATION_LIMIT_MS = 10_000;
/** On a busy machine, a new broker takes half a minute to become leader of its topics. */
const LEADERS_LIMIT_MS = 45_000;
const LEADERS_POLL_MS = 50;

export function deadLetterTopic(topic: string): string {
  return `${topic}.dead`;
}

/**
 * Creates missing topics, with the brokers' default number of replicas.
 * @throws BusWiringError if one exists with a different number of partitions.
 */
export async function ensureTopics(
  admin: Admin,
  topics: readonly AnyTopic[],
  namespace: string,
): Promise<void> {
  const wanted = wantedTopics(topics).map((each) => ({ ...each, topic: namespace + each.topic }));
  const existing = new Set(await admin.listTopics());
  const missing = wanted.filter(({ topic }) => !existing.has(topic));
  if (missing.length > 0)
    await admin.createTopics({ topics: missing, waitForLeaders: false, timeout: CREATION_LIMIT_MS });
  const found = await untilKnown(
    admin,
    wanted.map(({ topic }) => topic),
  );
  const faults = wanted.flatMap(({ topic, numPartitions }) => {
    const count = found.find(({ name }) => name === topic)?.partitions.length ?? 0;
    if (count === numPartitions) return [];
    return [
      `${topic} has ${count} partitions on the broker but ${numPartitions} here: recreate it when it is empty.`,
    ];
  });
  if (faults.length > 0) throw new BusWiringError(faults);
}

/**
 * Topics that were just created, here or by another program, take a moment to be known everywhere. Asking each leader for
 * its offsets proves that it leads. A consumer that starts earlier would lose its position at the end of the topic.
 */
function untilKnown(admin: Admin, names: string[]): Promise<ITopicMetadata[]> {
  return whileLeadersMove(async () => {
    const { topics } = await admin.fetchTopicMetadata({ topics: names });
    const orphan = topics.find(({ partitions }) => partitions.some(({ leader }) => leader < 0));
    if (orphan) throw new LeaderMissing(orphan.name);
    // One at a time: kafkajs 2.2.4 asks several brokers about all topics it knows so far, and a late answer makes it forget
    // the newest topic and fail on it.
    for (const name of names) await admin.fetchTopicOffsets(name);
    return topics;
  });
}

class LeaderMissing extends Error {
  readonly retriable = true;

  constructor(topic: string) {
    super(`${topic} has a partition without a leader`);
  }
}

/** Repeats `look` on errors caused by a new topic or a change of leader. Only for reads. */
export async function whileLeadersMove<T>(look: () => Promise<T>): Promise<T> {
  const endMs = performance.now() + LEADERS_LIMIT_MS;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if ((error as { retriable?: boolean }).retriable !== true || performance.now() > endMs) throw error;
      await pause(LEADERS_POLL_MS);
    }
  }
}

function wantedTopics(topics: readonly AnyTopic[]): (ITopicConfig & { numPartitions: number })[] {
  const retention = (ms: number) => [{ name: 'retention.ms', value: String(ms) }];
  return [
    { topic: REPLY_TOPIC, numPartitions: REPLY_PARTITIONS, configEntries: retention(REPLY_RETENTION_MS) },
    ...topics.map(({ name, partitions }) => ({ topic: name, numPartitions: partitions })),
    ...topics
      .filter(({ deadLetters, groups }) => deadLetters && groups.length > 0)
      .map(({ name }) => ({
        topic: deadLetterTopic(name),
        numPartitions: 1,
        configEntries: retention(DEAD_LETTER_RETENTION_MS),
      })),
  ];
}
