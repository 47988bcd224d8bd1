import type pg from 'pg';
import { z } from 'zod';
import { type Deletion, requestDeletion } from '#privacy/deletion-request.js';
import type { ApprovalContext, ApprovalService } from '#approvals/approval.service.js';
import { queueMail } from '#mail/mail.outbox.js';

export const DELETION_KIND = 'account.deletion';

const payload = z.strictObject({
  accountId: z.string(),
  ticketId: z.string(),
  forfeits: z.boolean(),
});

export interface DeletionParts {
  /** How long the owner can cancel it, in milliseconds. */
  graceMs: () => number;
  /** Called after a commit that announced something. */
  wake: () => void;
}

/** A deletion that one colleague requests and an administrator approves, in the console or on the command line. */
export function registerDeletions(
  approvals: Pick<ApprovalService, 'register'>,
  { graceMs, wake }: DeletionParts,
): void {
  approvals.register<z.infer<typeof payload>>({
    kind: DELETION_KIND,
    roles: ['admin'],
    payload,
    apply: (client, wanted, context) => apply(client, { ...wanted, graceMs: graceMs() }, context),
    applied: wake,
  });
}

async function apply(
  client: pg.PoolClient,
  wanted: z.infer<typeof payload> & { graceMs: number },
  { decidedBy, requestId }: ApprovalContext,
): Promise<unknown> {
  const deletion = await requestDeletion(client, { ...wanted, requestId, requestedBy: `user:${decidedBy}` });
  await mailOwner(client, deletion);
  return { deletionId: deletion.id, dueAt: deletion.dueAt.toISOString() };
}

/** Mails the owner, who can still cancel it. */
export async function mailOwner(client: pg.ClientBase, { accountId, dueAt, id }: Deletion): Promise<void> {
  const { rows } = await client.query<{ email: string }>('SELECT email FROM users WHERE account_id = $1', [
    accountId,
  ]);
  const details = { dueAt: dueAt.toISOString() };
  for (const { email } of rows)
    await queueMail(client, {
      template: 'account_deletion',
      to: email,
      details,
      event: `deletion:${id}`,
    });
}
