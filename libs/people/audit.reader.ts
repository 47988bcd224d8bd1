import type pg from 'pg';
import { z } from 'zod';
import { auditActions } from '#identity/audit-actions.js';
import { numberText, type RowOf, timeView, wordView } from '#platform/http/fields.js';
import { type Page, pageFrom, readCursorNumber } from '#platform/http/page.js';

export const auditView = z
  .object({
    id: numberText,
    actor: z.string(),
    actorEmail: z
      .string()
      .nullable()
      .describe("The actor's current email address. The log itself stores only IDs."),
    action: wordView(auditActions),
    subject: z.string(),
    accountId: z.string().nullable(),
    before: z.unknown(),
    after: z.unknown(),
    requestId: z.string().nullable(),
    recordedAt: timeView,
  })
  .meta({ id: 'AuditEntry' });

export type AuditLine = RowOf<typeof auditView, Date>;

export interface AuditQuery {
  limit: number;
  cursor?: string | undefined;
  subject?: string | undefined;
  actor?: string | undefined;
  accountId?: string | undefined;
  action?: string | undefined;
}

/** Reads the audit log, newest first. */
export class AuditReader {
  constructor(private readonly pool: pg.Pool) {}

  async list({ limit, cursor, ...filters }: AuditQuery): Promise<Page<AuditLine>> {
    const after = readCursorNumber(cursor) ?? undefined;
    const values: unknown[] = [limit + 1];
    const given = (column: string, value: unknown, operator = '=') =>
      value === undefined ? [] : [`${column} ${operator} $${values.push(value)}`];
    const conditions = [
      ...given('l.id', after, '<'),
      ...given('l.subject', filters.subject),
      ...given('l.actor', filters.actor),
      ...given('l.account_id', filters.accountId),
      ...given('l.action', filters.action),
    ];
    const { rows } = await this.pool.query<AuditLine>(
      `SELECT l.id, l.actor, u.email AS "actorEmail", l.action, l.subject, l.account_id AS "accountId", l.before, l.after,
         l.request_id AS "requestId", l.recorded_at AS "recordedAt"
       FROM audit_log l LEFT JOIN users u ON u.id = CASE WHEN l.actor LIKE 'user:%' THEN substr(l.actor, 6) END
       ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''} ORDER BY l.id DESC LIMIT $1`,
      values,
    );
    return pageFrom(rows, limit, (line) => [String(line.id)]);
  }
}
