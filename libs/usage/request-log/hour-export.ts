import { createHash } from 'node:crypto';
import { addAbortSignal, pipeline, Readable, Transform } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { underLock } from '#database/locks.js';
import { atHorizon } from '#ledger/postings/horizon.js';
import { OperatorError } from '#platform/errors.js';
import type { FileStore } from '#storage/file-store.js';
import { HOUR_MS, linesOfHour } from './hour-lines.js';

/** The largest object of a store: ten thousand parts of 5 MiB. */
const MAX_BYTES = 10_000 * 5 * 1024 * 1024;

/** How long a requested export waits for open transactions. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 100;

export interface ExportedHour {
  hour: Date;
  key: string;
  lines: number;
  /** Of the object, like the hash. */
  bytes: number;
  sha256: string;
}

interface ExportParts {
  pool: pg.Pool;
  store: FileStore;
  /** Cancels what is not stored yet. */
  signal?: AbortSignal | undefined;
  /** Receives the number of lines read so far. If it throws, the export ends and nothing is stored. */
  onLines?: (lines: number) => void;
}

/**
 * Exports the hour after the newest exported one, or the last one that has ended, and records it. Null: none can be
 * exported yet, or another process is exporting. An existing object stays and is recorded: the export was killed before
 * its row, or the database was restored and the object has what it lost.
 */
export async function exportNextHour(parts: ExportParts): Promise<ExportedHour | null> {
  const done = await underLock(parts.pool, 'requestLog', async () => {
    const hour = await nextHour(parts.pool);
    if (!hour || !(await isFinal(parts.pool, endOf(hour)))) return null;
    const exported = (await readExported(parts, hour)) ?? (await exportHour(parts, hour));
    await note(parts.pool, exported);
    return exported;
  });
  return done && done.result;
}

/**
 * Exports the hours of a range again, including exported ones. Only the schedule records hours, so that it skips none.
 * Rows of recorded hours are updated.
 * @throws OperatorError if requests can still end in them
 */
export async function* exportHours(
  parts: ExportParts,
  { from, to, isNoted }: { from: Date; to: Date; isNoted: boolean },
): AsyncGenerator<ExportedHour> {
  if (!(await becomesFinal(parts, to)))
    throw new OperatorError(
      `Requests can still end before ${to.toISOString()}: it is in the future, or an earlier transaction is still open.`,
    );
  for (let hour = from; hour < to; hour = endOf(hour)) {
    const exported = await exportHour(parts, hour);
    if (isNoted) await noteAgain(parts.pool, exported);
    yield exported;
  }
}

/** The end of the exported hours; null before the first. */
export async function exportedThrough(pool: pg.Pool): Promise<Date | null> {
  const { rows } = await pool.query<{ through: Date | null }>(
    `SELECT max(hour) + interval '1 hour' AS through FROM exported_hours`,
  );
  return rows[0]!.through;
}

async function nextHour(pool: pg.Pool): Promise<Date | null> {
  const { rows } = await pool.query<{ next: Date }>(
    `SELECT next FROM (SELECT coalesce((SELECT max(hour) + interval '1 hour' FROM exported_hours),
         date_trunc('hour', now(), 'UTC') - interval '1 hour') AS next) AS n
     WHERE next + interval '1 hour' <= now()`,
  );
  return rows[0]?.next ?? null;
}

/** Waits for open transactions after a time has passed. `onLines` may end the wait. */
async function becomesFinal({ pool, onLines }: ExportParts, end: Date): Promise<boolean> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await isFinal(pool, end))) {
    if (end.getTime() > Date.now() || performance.now() > deadline) return false;
    onLines?.(0);
    await pause(PAUSE_MS);
  }
  return true;
}

/** Whether nothing can still end before a time. Records become visible when they commit, which may be later. */
function isFinal(pool: pg.Pool, end: Date): Promise<boolean> {
  const isReached = async (client: pg.ClientBase, { at }: { at: string }) => {
    const { rows } = await client.query<{ reached: boolean }>(
      'SELECT $1::timestamptz >= $2::timestamptz AS reached',
      [at, end],
    );
    return rows[0]!.reached;
  };
  return atHorizon(pool, isReached, end);
}

function keyOf(hour: Date): string {
  return `requests/${hour.toISOString().slice(0, 13).replace(/[-T]/g, '/')}.ndjson.gz`;
}

async function readExported({ store, signal }: ExportParts, hour: Date): Promise<ExportedHour | null> {
  const key = keyOf(hour);
  if (!(await store.stat(key, signal))) return null;
  const stored = meter();
  let lines = 0;
  const unpacked = pipeline(await store.open(key), stored.stream, createGunzip(), () => undefined);
  for await (const chunk of unpacked as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf('\n'); at >= 0; at = chunk.indexOf('\n', at + 1)) lines += 1;
  }
  return { hour, key, lines, ...stored.read() };
}

/** Counts and hashes what passes through. */
function meter() {
  const hash = createHash('sha256');
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  return { stream, read: () => ({ bytes, sha256: hash.digest('hex') }) };
}

/** Stores the object of an hour, replacing an existing one. */
async function exportHour(parts: ExportParts, hour: Date): Promise<ExportedHour> {
  const { pool, store, signal, onLines } = parts;
  const key = keyOf(hour);
  const stored = meter();
  let lines = 0;
  async function* texts() {
    for await (const { text, count } of linesOfHour(pool, hour)) {
      lines += count;
      onLines?.(lines);
      yield text;
    }
  }
  // A failure ends all of them, and reading the last one throws it.
  const pages = Readable.from(texts(), { highWaterMark: 1 });
  const packed = pipeline(pages, createGzip(), stored.stream, () => undefined);
  if (signal) addAbortSignal(signal, packed);
  await store.write(key, packed, { maxBytes: MAX_BYTES, signal });
  return { hour, key, lines, ...stored.read() };
}

async function note(pool: pg.Pool, { hour, lines, bytes, sha256 }: ExportedHour): Promise<void> {
  await pool.query(
    `INSERT INTO exported_hours (hour, lines, bytes, sha256) VALUES ($1, $2, $3, $4)
     ON CONFLICT (hour) DO UPDATE SET lines = excluded.lines, bytes = excluded.bytes, sha256 = excluded.sha256,
       written_at = now()`,
    [hour, lines, bytes, sha256],
  );
}

async function noteAgain(pool: pg.Pool, { hour, lines, bytes, sha256 }: ExportedHour): Promise<void> {
  await pool.query(
    'UPDATE exported_hours SET lines = $2, bytes = $3, sha256 = $4, written_at = now() WHERE hour = $1',
    [hour, lines, bytes, sha256],
  );
}

function endOf(hour: Date): Date {
  return new Date(hour.getTime() + HOUR_MS);
}
