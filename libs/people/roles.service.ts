import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { beginsWith } from '#database/like.js';
import { lock } from '#database/locks.js';
import type { AuditAction } from '#identity/audit-actions.js';
import { audit } from '#identity/audit-log.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import type { Actor, Role } from '#identity/role.js';
import { revokeSessions } from '#identity/session.store.js';
import { IS_STAFF } from '#identity/staff.js';
import { ApiError } from '#platform/errors.js';
import type { RowOf } from '#platform/http/fields.js';
import { type Page, pageFrom, readCursorId } from '#platform/http/page.js';
import type { personView } from './people.fields.js';
import { removeDevice } from './totp.service.js';

export type ListedPerson = RowOf<typeof personView, Date>;

export interface PeopleQuery {
  limit: number;
  cursor?: string | undefined;
  /** The start of the email address. */
  email?: string | undefined;
  role?: Role | undefined;
}

const COLUMNS = `id AS "userId", account_id AS "accountId", email, roles, totp_confirmed_at IS NOT NULL AS "totpEnabled",
  disabled_at IS NOT NULL AS disabled, created_at AS "createdAt"`;

export interface PersonChange {
  userId: string;
  actor: Actor;
  requestId: string;
}

/**
 * Who may sign in, and with which roles. Nobody decides about themselves, and at least one administrator can always
 * sign in.
 */
export class RolesService {
  constructor(private readonly pool: pg.Pool) {}

  async list({ limit, cursor, email, role }: PeopleQuery): Promise<Page<ListedPerson>> {
    const after = readCursorId(cursor);
    const areStaff = role !== undefined && role !== 'user';
    const { rows } = await this.pool.query<ListedPerson>(
      `SELECT ${COLUMNS} FROM users
       WHERE ($1::text IS NULL OR id < $1) AND ($2::text IS NULL OR email LIKE $2) AND ($3::text IS NULL OR $3 = ANY (roles))
         ${areStaff ? `AND ${IS_STAFF}` : ''}
       ORDER BY id DESC LIMIT $4`,
      [after, email === undefined ? null : beginsWith(email), role ?? null, limit + 1],
    );
    return pageFrom(rows, limit, ({ userId }) => [userId]);
  }

  /** The person of an account, or null if it has none. */
  async ofAccount(accountId: string): Promise<ListedPerson | null> {
    const { rows } = await this.pool.query<ListedPerson>(
      `SELECT ${COLUMNS} FROM users WHERE account_id = $1`,
      [accountId],
    );
    return rows[0] ?? null;
  }

  /**
   * A disabled person cannot sign in and has no session. Their keys keep working: freeze the account to stop them. Only
   * someone without an interest of their own in the account enables them again.
   * @throws ApiError not_found, forbidden for oneself, conflict if no administrator would remain,
   * second_person_required
   */
  setDisabled(change: PersonChange, disabled: boolean): Promise<ListedPerson> {
    return this.change(change, disabled ? 'person.disabled' : 'person.enabled', async (client, before) => {
      if (!disabled) await refuseOwnInterest(client, change.actor, before.accountId);
      const at = 'disabled_at = CASE WHEN $2::boolean THEN coalesce(disabled_at, now()) END';
      const after = await updatePerson(client, before.userId, { assignment: at, value: disabled });
      if (disabled) await revokeSessions(client, before.userId);
      return { after, audited: { before: { disabled: before.disabled }, after: { disabled } } };
    });
  }

  /** For a person who lost both the device and the recovery codes. @throws ApiError not_found, forbidden for oneself */
  removeTotp(change: PersonChange): Promise<ListedPerson> {
    return this.change(change, 'person.totp_removed', async (client, before) => {
      await refuseOwnInterest(client, change.actor, before.accountId);
      await removeDevice(client, before.userId);
      await revokeSessions(client, before.userId);
      return {
        after: { ...before, totpEnabled: false },
        audited: { before: { totpEnabled: before.totpEnabled } },
      };
    });
  }

  private change(
    { userId, actor, requestId }: PersonChange,
    action: AuditAction,
    work: (
      client: pg.ClientBase,
      before: ListedPerson,
    ) => Promise<{ after: ListedPerson; audited: { before: unknown; after?: unknown } }>,
  ): Promise<ListedPerson> {
    return inTransaction(this.pool, async (client) => {
      const before = await lockPerson(client, { userId, actor });
      const { after, audited } = await work(client, before);
      await requireAdmin(client);
      const { accountId } = before;
      await audit(client, {
        actor: `user:${actor.userId}`,
        action,
        subject: `user:${userId}`,
        accountId,
        requestId,
        ...audited,
      });
      return after;
    });
  }
}

/**
 * Locks the set of administrators, and a person whose rights will change.
 * @throws ApiError not_found, forbidden for oneself
 */
export async function lockPerson(
  client: pg.ClientBase,
  { userId, actor }: { userId: string; actor: { readonly userId: string } },
): Promise<ListedPerson> {
  await lock(client, 'administrators');
  const { rows } = await client.query<ListedPerson>(`SELECT ${COLUMNS} FROM users WHERE id = $1 FOR UPDATE`, [
    userId,
  ]);
  if (!rows[0]) throw new ApiError('not_found', 'There is no such person.');
  if (userId === actor.userId) throw new ApiError('forbidden', 'Another administrator must do this for you.');
  return rows[0];
}

export async function updatePerson(
  client: pg.ClientBase,
  userId: string,
  { assignment, value }: { assignment: string; value: unknown },
): Promise<ListedPerson> {
  const { rows } = await client.query<ListedPerson>(
    `UPDATE users SET ${assignment} WHERE id = $1 RETURNING ${COLUMNS}`,
    [userId, value],
  );
  return rows[0]!;
}

export async function requireAdmin(client: pg.ClientBase): Promise<void> {
  const { rowCount } = await client.query(
    `SELECT FROM users WHERE 'admin' = ANY (roles) AND ${IS_STAFF} AND disabled_at IS NULL LIMIT 1`,
  );
  if (!rowCount) throw new ApiError('conflict', 'One administrator must remain.');
}
