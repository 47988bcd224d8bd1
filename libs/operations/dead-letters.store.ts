import type pg from 'pg';
import type { DeadLetter } from '#bus/delivery.js';

/** What a letter keeps of a message: more is an accident or an attack, and its beginning shows as much. */
const MAX_PAYLOAD_CHARS = 100_000;
const MAX_REASON_CHARS = 2_000;

/**
 * Keeps a message that cannot be handled, with the charge that it names, so that no sweep decides about that charge
 * before a person has looked. Keeping it twice is keeping it once.
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

/** PostgreSQL's text takes no NUL, which a message that cannot be read may well contain. */
function storable(text: string | null, maxChars: number): string | null {
  return text === null ? null : text.slice(0, maxChars).replaceAll('\u0000', '\uFFFD');
}
