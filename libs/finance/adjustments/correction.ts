import type pg from 'pg';
import { z } from 'zod';
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
  /** Nanos, not 0; positive is for the customer. */
  amount: bigint;
  reason: AdjustmentReason;
  note: string;
}

export interface WantedWriteOff {
  accountId: string;
  ticketId: string;
  /** Null: the whole debt. */
  amount: bigint | null;
  note: string;
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
export const writeOffPayload = z.strictObject({
  accountId: z.string(),
  ticketId: z.string(),
  amount: z.string().nullable(),
  note: z.string(),
});

type WantedReversal = z.infer<typeof reversalPayload>;
type WantedWriteOffReversal = z.infer<typeof writeOffReversalPayload>;

export interface Signatures {
  requestedBy: string;
  approvedBy: string | null;
  requestId: string;
  auditId: string;
}

/** @throws AdjustmentRefused */
export async function doAdjust(
  client: pg.PoolClient,
  wanted: WantedAdjustment,
  signed: Signatures,
): Promise<Adjustment> {
  const adjustment = await adjust(client, { ...wanted, ...signatures(signed) });
  await noteOnce(client, 'account.adjusted', { ...adjustment, auditId: signed.auditId });
  return adjustment;
}

/** @throws AdjustmentRefused */
export async function doReverse(
  client: pg.PoolClient,
  wanted: WantedReversal,
  signed: Signatures,
): Promise<Adjustment> {
  const reversal = await reverseAdjustment(client, { ...wanted, ...signatures(signed) });
  await noteOnce(client, 'adjustment.reversed', { ...reversal, auditId: signed.auditId });
  return reversal;
}

/** @throws WriteOffRefused */
export async function doWriteOff(
  client: pg.PoolClient,
  wanted: WantedWriteOff,
  signed: Signatures,
): Promise<WriteOff> {
  const written = await writeOff(client, { ...wanted, ...signatures(signed) });
  await noteOnce(client, 'debt.written_off', { ...written, auditId: signed.auditId });
  return written;
}

/** @throws WriteOffRefused */
export async function doReverseWriteOff(
  client: pg.PoolClient,
  wanted: WantedWriteOffReversal,
  signed: Signatures,
): Promise<WriteOff> {
  const reversal = await reverseWriteOff(client, { ...wanted, ...signatures(signed) });
  await noteOnce(client, 'debt.write_off_reversed', { ...reversal, auditId: signed.auditId });
  return reversal;
}

function signatures({ requestedBy, approvedBy, requestId }: Signatures): Omit<Signatures, 'auditId'> {
  return { requestedBy, approvedBy, requestId };
}

/** Once: a repeat of the request did nothing. */
async function noteOnce(
  client: pg.PoolClient,
  action: string,
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
    subject: `account:${accountId}`,
    accountId,
    after: { id, amount: viewSigned(amount), note: made.note, ticketId, requestedBy, approvedBy, reversesId },
    requestId: auditId,
  });
}

/** A decimal string that may be below 0, in nanos. */
export function parseSigned(text: string): bigint {
  return text.startsWith('-') ? -parseAmount(text.slice(1)) : parseAmount(text);
}

export function viewSigned(amount: bigint): string {
  return formatAmount(nanos(amount));
}
