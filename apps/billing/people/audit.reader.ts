import { Inject, Injectable } from '@nestjs/common';
import type pg from 'pg';
import { POOL } from '../billing.tokens.js';
import { type Page, pageFrom, readCursor } from '../http/page.js';
import { ApiError } from '#platform/errors.js';

export interface AuditLine {
  id: bigint;
  actor: string;
  action: string;
  subject: string;
  accountId: string | null;
  before: unknown;
  after: unknown;
  requestId: string | null;
  recordedAt: Date;
}

export interface AuditQuery {
  limit: number;
  cursor?: string | undefined;
  subject?: string | undefined;
  actor?: string | undefined;
  accountId?: string | undefined;
  action?: string | undefined;
}

/** Reads the audit log, the newest first. */
@Injectable()
export class AuditReader {
  constructor(@Inject(POOL) private readonly pool: pg.Pool) {}

  async list({ limit, cursor, ...filters }: AuditQuery): Promise<Page<AuditLine>> {
    const after = readCursor(cursor, 1)?.[0];
    if (after !== undefined && !/^\d{1,18}$/.test(after))
      throw new ApiError('invalid_value', 'cursor: must be the nextCursor of the page before.', {
        param: 'cursor',
      });
    const values: unknown[] = [limit + 1];
    const given = (column: string, value: unknown, operator = '=') =>
      value === undefined ? [] : [`${column} ${operator} $${values.push(value)}`];
    const conditions = [
      ...given('id', after, '<'),
      ...given('subject', filters.subject),
      ...given('actor', filters.actor),
      ...given('account_id', filters.accountId),
      ...given('action', filters.action),
    ];
    const { rows } = await this.pool.query<AuditLine>(
      `SELECT id, actor, action, subject, account_id AS "accountId", before, after, request_id AS "requestId",
         recorded_at AS "recordedAt"
       FROM audit_log ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''} ORDER BY id DESC LIMIT $1`,
      values,
    );
    return pageFrom(rows, limit, (line) => [String(line.id)]);
  }
}
