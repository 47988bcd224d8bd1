import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { isTransient } from '#database/database.js';
import { requireSchema } from '#database/migrations.js';
import { operatorSentence } from '#database/operator-sentence.js';

/** The shortest pause between attempts. It grows to twice as long. */
const DATABASE_AWAY_MS = 500;

export interface SchemaWait {
  log: Record<'warn' | 'error', (facts: object, words: string) => void>;
  /** The pause between two errors in the log. */
  remindMs?: number;
  /** A host name that does not resolve for this long is probably wrong. */
  unknownNameMs?: number;
}

/**
 * Waits for a database that is down, and reports it regularly.
 * @throws OperatorError if no version that runs beside this one knows its schema
 * @throws Error if its host name does not resolve for long
 */
export async function untilSchema(pool: pg.Pool, wait: SchemaWait): Promise<void> {
  const { log, remindMs = 30_000, unknownNameMs = 120_000 } = wait;
  let saidMs: number | undefined;
  let unknownSinceMs: number | undefined;
  for (;;) {
    try {
      return await requireSchema(pool);
    } catch (error) {
      const nowMs = performance.now();
      unknownSinceMs = isUnknownName(error) ? (unknownSinceMs ?? nowMs) : undefined;
      if (!isTransient(error) || nowMs - (unknownSinceMs ?? nowMs) >= unknownNameMs) throw error;
      const words = `waiting for the database. ${operatorSentence(error)}`;
      if (saidMs === undefined) log.warn({ err: error }, words);
      else if (nowMs - saidMs >= remindMs) log.error({ err: error }, words);
      if (saidMs === undefined || nowMs - saidMs >= remindMs) saidMs = nowMs;
      await pause(DATABASE_AWAY_MS * (1 + Math.random()));
    }
  }
}

function isUnknownName(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === 'ENOTFOUND' || code === 'EAI_AGAIN';
}
