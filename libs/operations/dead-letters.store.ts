import type pg from 'pg';
import type { DeadLetter } from '#bus/delivery.js';

/** The stored part of a message. Longer ones are an accident or an attack, and their beginning shows that. */
const MAX_PAYLOAD_CHARS = 100_000;
const MAX_REASON_CHARS = 2_000;

/**
 * Stores a message that cannot be handled, with its charge, so that no sweep decides about that charge before a person
 * has looked at it. Storing it twice changes nothing.
 */
export async function storeDeadLetter(pool: pg.Pool, letter: DeadLetter): Promise<void> {
  await pool.query(
    `INSERT INTO dead_letters (topic, partition, "offset", key, payload, charge_id, reason, consumer_group)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (topic, partition, "offset", consumer_group) DO NOTHING`,
    [
      letter.topic,
      letter.partition,
      letter.offset,
      storable(letter.key, MAX_REASON_CHARS),
      storable(letter.payload, MAX_PAYLOAD_CHARS),
      storable(letter.id, MAX_REASON_CHARS),
      storable(letter.reason, MAX_REASON_CHARS),
      letter.group,
    ],
  );
}

/** PostgreSQL's text cannot contain NUL, but an unreadable message may. */
function storable(text: string | null, maxChars: number): string | null {
  return text === null ? null : text.slice(0, maxChars).replaceAll('\u0000', '\uFFFD');
}
