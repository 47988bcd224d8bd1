import type pg from 'pg';
import { InvalidMessage } from '#bus/bus.errors.js';
import { decodePayload } from '#bus/message.js';
import { outboxInsert } from '#bus/outbox.js';
import type { DeadLetter } from '#bus/delivery.js';
import type { AnyTopic } from '#bus/topic.js';
import { allTopics, topics } from '#bus/topics.js';
import { inTransaction } from '#database/database.js';
import { audit } from '#identity/audit-log.js';
import { ApiError } from '#platform/errors.js';

/** A stored message that no handler could process. */
export interface StoredLetter extends Omit<DeadLetter, 'id'> {
  id: bigint;
  /** Its subject, such as a charge. */
  about: string | null;
  at: Date;
  replayedAt: Date | null;
  replayedBy: string | null;
}

export interface LetterFilter {
  topic?: string | undefined;
  group?: string | undefined;
  about?: string | undefined;
  replayed?: boolean | undefined;
}

const OBSTACLES = {
  replayed: 'It was replayed already. If that failed too, there is another letter.',
  unknown_topic: 'This version knows no such topic.',
  nobody_waits:
    'Its sender waited for an answer and has continued without it: nobody would learn of the effect.',
  incomplete: 'It came without a key or without a payload.',
  // It would only become a letter again.
  unreadable: 'It cannot be read',
} as const;

type Obstacle = keyof typeof OBSTACLES;

export const letterObstacles = Object.keys(OBSTACLES) as Obstacle[];

/** Whether a letter can be replayed, and the effect. */
export interface ReplayOutlook {
  canReplay: boolean;
  /** Null if it can be replayed. */
  obstacle: Obstacle | null;
  /** The effect, or why it cannot be replayed, in English. */
  effect: string;
}

/** What went wrong: the message is not one of its topic, or its handler failed. */
export const letterFaults = ['unreadable', 'failed'] as const;

const COLUMNS = `id, topic, consumer_group AS "group", partition, "offset", key, payload, charge_id AS about, reason,
  created_at AS at, replayed_at AS "replayedAt", replayed_by AS "replayedBy"`;

const EFFECTS: Record<string, string> = {
  [topics.chargeResolved.name]:
    'Charges or refunds the request it names. A charge that has already ended does not change.',
  [topics.videoCompleted.name]:
    'Charges or refunds the task it names. A charge that has already ended does not change.',
};
const OTHER_EFFECT = 'Every group that reads the topic handles it again. Nothing is done twice.';

/** The letters, newest first. */
export async function listLetters(
  pool: pg.Pool,
  { topic, group, about, replayed }: LetterFilter,
  page: { limit: number; after: string | null },
): Promise<StoredLetter[]> {
  const { rows } = await pool.query<StoredLetter>(
    `SELECT ${COLUMNS} FROM dead_letters
     WHERE ($1::bigint IS NULL OR id < $1) AND ($2::text IS NULL OR topic = $2)
       AND ($3::text IS NULL OR consumer_group = $3) AND ($4::text IS NULL OR charge_id = $4)
       AND ($5::boolean IS NULL OR (replayed_at IS NOT NULL) = $5)
     ORDER BY id DESC LIMIT $6`,
    [page.after, topic ?? null, group ?? null, about ?? null, replayed ?? null, page.limit],
  );
  return rows;
}

/** @throws ApiError not_found */
export async function findLetter(
  pool: pg.Pool | pg.ClientBase,
  id: bigint,
  lock = '',
): Promise<StoredLetter> {
  const { rows } = await pool.query<StoredLetter>(
    `SELECT ${COLUMNS} FROM dead_letters WHERE id = $1 ${lock}`,
    [id],
  );
  if (!rows[0]) throw new ApiError('not_found', 'There is no such dead letter.');
  return rows[0];
}

export function outlookOf(letter: StoredLetter): ReplayOutlook {
  const { topic: name, payload, key, replayedAt } = letter;
  const topic = allTopics.find((each) => each.name === name);
  if (replayedAt) return no('replayed');
  if (!topic) return no('unknown_topic');
  if (!topic.deadLetters) return no('nobody_waits');
  if (key === null || payload === null) return no('incomplete');
  const fault = readingFault(topic, payload);
  if (fault !== null) return { ...no('unreadable'), effect: `${OBSTACLES.unreadable}: ${fault}.` };
  return { canReplay: true, obstacle: null, effect: EFFECTS[name] ?? OTHER_EFFECT };
}

function no(obstacle: Obstacle): ReplayOutlook {
  return { canReplay: false, obstacle, effect: OBSTACLES[obstacle] };
}

export function letterFault({ topic: name, payload }: StoredLetter): (typeof letterFaults)[number] {
  const topic = allTopics.find((each) => each.name === name);
  return topic && (payload === null || readingFault(topic, payload) !== null) ? 'unreadable' : 'failed';
}

function readingFault(topic: AnyTopic, payload: string): string | null {
  try {
    decodePayload(topic, String(topic.version), payload);
    return null;
  } catch (error) {
    if (!(error instanceof InvalidMessage)) throw error;
    return error.message;
  }
}

/**
 * Publishes the message of a letter again, through the outbox, once. The letter stays as a record.
 * @throws ApiError not_found, conflict for one that cannot be replayed
 */
export async function replayLetter(
  pool: pg.Pool,
  id: bigint,
  by: { actor: string; requestId: string | null },
): Promise<StoredLetter> {
  return inTransaction(pool, async (client) => {
    const letter = await findLetter(client, id, 'FOR UPDATE');
    const { canReplay, effect } = outlookOf(letter);
    if (!canReplay) throw new ApiError('conflict', effect);
    const { topic, key, payload, about, reason, group } = letter;
    await client.query(outboxInsert('billing', [{ topic, key: key ?? '', payload: payload ?? '' }]));
    const { rows } = await client.query<StoredLetter>(
      `UPDATE dead_letters SET replayed_at = now(), replayed_by = $2 WHERE id = $1 RETURNING ${COLUMNS}`,
      [id, by.actor],
    );
    await audit(client, {
      ...by,
      action: 'dead_letter.replayed',
      subject: `dead_letter:${id}`,
      before: { topic, group, about, reason },
    });
    return rows[0]!;
  });
}
