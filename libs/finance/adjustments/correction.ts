import type pg from 'pg';
import { z } from 'zod';
import type { AuditAction } from '#identity/audit-actions.js';
import { audit } from '#identity/audit-log.js';
import {
  adjust,
  type Adjustment,
  type AdjustmentReason,
  adjustmentReasons,
  reverseAdjustment,
} from '#ledger/postings/adjustment.js';
import { reverseWriteOff, writeOff, type WriteOff } from '#ledger/postings/write-off.js';
import { formatAmount, nanos, parseAmount } from '#money/amount.js';

/** Adjustments and write-offs in the caller's transaction, each with its note in the audit log. */

export interface WantedAdjustment {
  accountId: string;
  ticketId: string;
  /** Nanos, not 0. Positive amounts add credits. */
  amount: bigint;
  reason: AdjustmentReason;
  note: string;
}

export interface WantedWriteOff extends Omit<WantedAdjustment, 'amount' | 'reason'> {
  /** Null means the whole debt. */
  amount: bigint | null;
}

export const adjustmentPayload = z.strictObject({
  accountId: z.string(),
  ticketId: z.string(),
  amount: z.string(),
  reason: z.enum(adjustmentReasons),
  note: z.string(),
});
export const reversalPayload = z.strictObject({ adjustmentId: z.string(), note: z.string() });
export const writeOffReversalPayload = z.strictObject({ writeOffId: z.string(), note: z.string() });
export const writeOffPayload = adjustmentPayload
  .omit({ reason: true })
  .extend({ amount: z.string().nullable() });

export interface Signatures {
  requestedBy: string;
  approvedBy: string | null;
  requestId: string;
  auditId: string;
  /** What the second person saw, in nanos. Less of a debt may be left by now, or more. */
  atMost?: bigint | undefined;
}

export const doAdjust = noted('account.adjusted', adjust);
export const doReverse = noted('adjustment.reversed', reverseAdjustment);
export const doWriteOff = noted('debt.written_off', writeOff);
export const doReverseWriteOff = noted('debt.write_off_reversed', reverseWriteOff);

/** Makes a correction and notes it in the audit log under this action. Throws CorrectionRefused. */
function noted<Asked extends Omit<Signatures, 'auditId'>, Made extends Adjustment | WriteOff>(
  action: AuditAction,
  correct: (client: pg.PoolClient, asked: Asked) => Promise<Made>,
) {
  return async (
    client: pg.PoolClient,
    wanted: Omit<Asked, keyof Signatures>,
    { auditId, ...signatures }: Signatures,
  ): Promise<Made> => {
    const made = await correct(client, { ...wanted, ...signatures } as Asked);
    await noteOnce(client, action, { ...made, auditId });
    return made;
  };
}

/** Notes it only once: a repeated request does nothing. */
async function noteOnce(
  client: pg.PoolClient,
  action: AuditAction,
  made: (Adjustment | WriteOff) & Pick<Signatures, 'auditId'>,
): Promise<void> {
  const { id, accountId, ticketId, amount, requestedBy, approvedBy, reversesId, auditId } = made;
  const { rowCount } = await client.query(
    `SELECT FROM audit_log WHERE subject = $1 AND action = $2 AND after ->> 'id' = $3`,
    [`account:${accountId}`, action, id],
  );
  if (rowCount !== 0) return;
  await audit(client, {
    actor: approvedBy ?? requestedBy,
    action,
    accountId,
    after: { id, amount: viewSigned(amount), note: made.note, ticketId, requestedBy, approvedBy, reversesId },
    requestId: auditId,
  });
}

/** Parses a decimal string, which can be negative, into nanos. */
export function parseSigned(text: string): bigint {
  return text.startsWith('-') ? -parseAmount(text.slice(1)) : parseAmount(text);
}

export function viewSigned(amount: bigint): string {
  return formatAmount(nanos(amount));
}
