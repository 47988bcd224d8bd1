import type pg from 'pg';
import { newId } from '#platform/ids.js';

/** A request to leave findings of a checklist item for later, for the period with this end. */
export interface WaiverRequest {
  readonly end: Date;
  /** Id of an item of the checklist. */
  readonly item: string;
  /** As counted by the checklist. More than these are not waived. */
  readonly count: number;
  /** Exactly these, as `state subject`. Null if there are more than are read. */
  readonly findings: readonly string[] | null;
  readonly reason: string;
  /** `user:{id}`. */
  readonly requestedBy: string;
}

/** Agreed by two people, and kept permanently. */
export interface Waiver extends WaiverRequest {
  readonly id: string;
  readonly approvedBy: string;
  readonly recordedAt: Date;
}

const COLUMNS = `id, ends_at AS "end", item, count, findings, reason, requested_by AS "requestedBy", approved_by AS "approvedBy",
  recorded_at AS "recordedAt"`;

/** Notes that a second person agreed. The database refuses two signatures of the same person. */
export async function recordWaiver(
  client: pg.ClientBase,
  waiver: WaiverRequest & { approvedBy: string },
): Promise<Waiver> {
  const { end, item, count, findings, reason, requestedBy, approvedBy } = waiver;
  const { rows } = await client.query<Waiver>(
    `INSERT INTO period_waivers (id, ends_at, item, count, findings, reason, requested_by, approved_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${COLUMNS}`,
    [newId(), end, item, count, findings, reason, requestedBy, approvedBy],
  );
  return rows[0] as Waiver;
}

/** Waivers agreed for the period with this end, oldest first. */
export async function waiversOf(
  database: pg.Pool | Pick<pg.ClientBase, 'query'>,
  end: Date,
): Promise<Waiver[]> {
  const { rows } = await database.query<Waiver>(
    `SELECT ${COLUMNS} FROM period_waivers WHERE ends_at = $1 ORDER BY id`,
    [end],
  );
  return rows;
}
