import type pg from 'pg';
import { audit } from '#identity/audit-log.js';
import { lockOutflows, takeOutflow } from '#ledger/postings/outflow.js';
import { minorToNanos } from '#money/currency.js';
import { ApiError, NamedError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { readMatch } from './payments/payment-matching.js';
import { lockProvider } from './report.import.js';
import { type CorrectedLine, correctLine } from './line-correction.js';
import type { ReportingProvider } from './report-line.js';

/** Acceptance of a line that a later report changed, or of a payout without lines. */
export interface Acceptance {
  id: string;
  provider: ReportingProvider;
  lineId: string;
  /** The newest change that it covers, or 0 for none. Anything reported later is checked again. */
  through: bigint;
  reason: string;
  requestedBy: string;
  approvedBy: string | null;
  requestId: string;
  recordedAt: Date;
}

export interface AcceptanceRequest {
  provider: ReportingProvider;
  lineId: string;
  /** What the first person saw, for the second person's decision. Null means the current state. */
  through: bigint | null;
  reason: string;
  /** `user:{id}` or `cli:{login}`. */
  requestedBy: string;
  /** A second person, if the amount needs one. */
  approvedBy: string | null;
  requestId: string;
  /** The ID of the HTTP request or approval, for the audit log. */
  auditId: string | null;
  /** The payment currency, ISO 4217. */
  house: string;
}

/**
 * The amount, together with what the person accepted alone that day, is above the limit for one person. Nothing was written.
 */
export class AcceptanceNeedsTwo extends NamedError {
  constructor(
    /** Nanos. */
    readonly amount: bigint,
    readonly through: bigint,
  ) {
    super('The amount is above what one person may accept alone.');
  }
}

interface LineFacts extends Omit<CorrectedLine, 'standing'> {
  /** The largest reported amount with its fee, without signs: both are posted. */
  largest: bigint;
  newest: bigint;
  isLinked: boolean;
  /** The new version has the same type, currency and subject as the first. */
  isSame: boolean;
  isSettled: boolean;
  /** A payout already reported by another line, which is posted only once. */
  isRepeated: boolean;
}

/**
 * Accepts the known versions of a line once, and posts what our books lack. Imports of its provider wait, so that nothing newer
 * is accepted by accident. A repeated request returns the same answer. @throws ApiError not_found, conflict; AcceptanceNeedsTwo
 */
export async function acceptLine(client: pg.ClientBase, asked: AcceptanceRequest): Promise<Acceptance> {
  const { provider, lineId, reason, requestedBy, approvedBy, requestId, auditId, house } = asked;
  await lockOutflows(client, requestedBy);
  await lockProvider(client, provider);
  const facts = await readFacts(client, asked);
  const { through } = facts;
  const known = await readAcceptances(client, facts.line);
  const same = known.find((each) => each.requestId === requestId && each.requestedBy === requestedBy);
  if (same && same.reason !== reason)
    throw new ApiError('conflict', 'The same request was made before, for another reason.');
  if (same) return { ...same, provider, lineId };
  requireAcceptable(facts, known);
  await requireFewAlone(client, asked, facts);
  const standing = await readMatch(client, facts);
  const made = await insertAcceptance(client, asked, facts);
  await correctLine(client, { acceptanceId: made.id, line: { ...facts, standing }, house });
  await audit(client, {
    actor: approvedBy ?? requestedBy,
    action: 'provider-line.accepted',
    requestId: auditId,
    subject: `line:${provider}:${lineId}`,
    after: { reason, requestedBy, approvedBy, through: through.toString() },
  });
  return { ...made, provider, lineId, through, reason, requestedBy, approvedBy, requestId };
}

async function insertAcceptance(
  client: pg.ClientBase,
  { reason, requestedBy, approvedBy, requestId }: AcceptanceRequest,
  { line, through, largest }: LineFacts,
): Promise<Pick<Acceptance, 'id' | 'recordedAt'>> {
  const alone = approvedBy === null ? largest : null;
  const { rows } = await client.query<Pick<Acceptance, 'id' | 'recordedAt'>>(
    `INSERT INTO provider_line_acceptances (id, line, through, reason, requested_by, approved_by, request_id, alone_minor)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id, recorded_at AS "recordedAt"`,
    [newId(), line, through.toString(), reason, requestedBy, approvedBy, requestId, alone],
  );
  return rows[0] as Pick<Acceptance, 'id' | 'recordedAt'>;
}

function requireAcceptable(facts: LineFacts, known: readonly KnownAcceptance[]): void {
  const { through, newest, type } = facts;
  const isOld = known.some((each) => each.through > through);
  const isDone = known.some((each) => each.through === through) && (facts.isSettled || through < newest);
  if (isOld || isDone) throw new ApiError('conflict', 'The line has already been accepted.');
  if (through === 0n && (type !== 'payout' || facts.isLinked))
    throw new ApiError('conflict', 'There is nothing to accept: the reports agree about the line.');
  if (!facts.isSame)
    throw new ApiError(
      'conflict',
      'The line now has another type, currency or subject, which cannot be posted. Ask the provider.',
    );
  if (through !== 0n && facts.isRepeated)
    throw new ApiError('conflict', 'Two lines report the payout: ask the provider which of them is right.');
}

const LINE_FACTS = `SELECT l.id AS line, l.provider, l.line_id AS "lineId", l.type, l.currency, l.subject_id AS "subjectId",
    coalesce($3::bigint, w.last_change, 0) AS through, coalesce(w.last_change, 0) AS newest,
    l.amount_minor AS "firstAmount", l.fee_minor AS "firstFee", coalesce(w.amount_minor, l.amount_minor) AS "heldAmount",
    coalesce((z.content ->> 'amountMinor')::bigint, l.amount_minor) AS amount,
    coalesce((z.content ->> 'feeMinor')::bigint, l.fee_minor) AS fee,
    x.amount AS "correctedAmount", x.fee AS "correctedFee",
    greatest(abs(l.amount_minor) + abs(l.fee_minor), (SELECT max(abs((c.content ->> 'amountMinor')::bigint)
      + abs((c.content ->> 'feeMinor')::bigint)) FROM provider_line_changes c WHERE c.line = l.id)) AS largest,
    EXISTS (SELECT FROM provider_line_payouts p WHERE p.provider = l.provider AND p.payout_id = l.subject_id
      AND p.line <> l.id) AS "isLinked",
    coalesce((z.content ->> 'type', z.content ->> 'currency', z.content ->> 'subjectId')
      = (l.type, l.currency, l.subject_id), true) AS "isSame",
    coalesce(w.is_settled, true) AS "isSettled",
    l.type IN ('payout', 'payout_failure') AND EXISTS (SELECT FROM provider_report_lines o WHERE o.provider = l.provider
      AND o.subject_id = l.subject_id AND o.type = l.type AND o.id <> l.id) AS "isRepeated",
    (SELECT min(p.transaction_id) FROM provider_line_postings p WHERE p.line = l.id AND p.kind <> 'suspense')
      AS "transactionId"
  FROM provider_report_lines l LEFT JOIN provider_line_words w ON w.line = l.id
  LEFT JOIN provider_line_changes z ON z.line = l.id AND z.id = coalesce($3::bigint, w.last_change)
  CROSS JOIN LATERAL (SELECT coalesce(sum(amount_minor), 0)::bigint AS amount, coalesce(sum(fee_minor), 0)::bigint AS fee
    FROM provider_line_corrections WHERE line = l.id) AS x
  WHERE l.provider = $1 AND l.line_id = $2`;

/** The accepted version is the requested one, or the newest. */
async function readFacts(
  client: pg.ClientBase,
  { provider, lineId, through }: Pick<AcceptanceRequest, 'provider' | 'lineId' | 'through'>,
): Promise<LineFacts> {
  const { rows } = await client.query<LineFacts>(LINE_FACTS, [provider, lineId, through]);
  if (!rows[0]) throw new ApiError('not_found', 'There is no such line.');
  return rows[0];
}

type KnownAcceptance = Omit<Acceptance, 'provider' | 'lineId'>;

async function readAcceptances(client: pg.ClientBase, line: bigint): Promise<KnownAcceptance[]> {
  const { rows } = await client.query<KnownAcceptance>(
    `SELECT id, through, reason, requested_by AS "requestedBy", approved_by AS "approvedBy", recorded_at AS "recordedAt",
       request_id AS "requestId" FROM provider_line_acceptances WHERE line = $1 ORDER BY id`,
    [line],
  );
  return rows;
}

/**
 * What one person accepts alone in a day cannot exceed the limit, however it is split. Other currencies cannot be compared with
 * it, so they always take two. @throws AcceptanceNeedsTwo
 */
async function requireFewAlone(
  client: pg.ClientBase,
  { requestedBy: actor, approvedBy, requestId, house }: AcceptanceRequest,
  { currency, largest, through }: LineFacts,
): Promise<void> {
  const amount = minorToNanos(largest, currency);
  if (approvedBy === null && currency !== house) throw new AcceptanceNeedsTwo(amount, through);
  const reference = `acceptance:${requestId}`;
  const { taken } = await takeOutflow(client, {
    kind: 'provider-line.acceptance',
    actor,
    approvedBy,
    amount,
    reference,
    accountId: null,
  });
  if (!taken) throw new AcceptanceNeedsTwo(amount, through);
}
