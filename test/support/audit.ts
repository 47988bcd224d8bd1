import type { LedgerFixture } from './ledger.js';

export interface AuditedChange {
  actor: string;
  action: string;
  before: unknown;
  after: unknown;
}

/** The audit log of a subject, such as `user:{id}`, oldest first. */
export async function auditOf(
  { owner }: Pick<LedgerFixture, 'owner'>,
  subject: string,
): Promise<AuditedChange[]> {
  const { rows } = await owner.query<AuditedChange>(
    'SELECT actor, action, before, after FROM audit_log WHERE subject = $1 ORDER BY id',
    [subject],
  );
  return rows;
}

/** The actions in the audit log of a subject, oldest first. */
export async function actionsOn(fixture: Pick<LedgerFixture, 'owner'>, subject: string): Promise<string[]> {
  return (await auditOf(fixture, subject)).map(({ action }) => action);
}
