import type pg from 'pg';
import { audit } from '#identity/audit-log.js';
import { minorDigits } from '#money/currency.js';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { lockProvider } from './report.import.js';
import type { ReportingProvider } from './report-line.js';

/** That somebody takes a line as it is, although a later report told it otherwise, or no line says what a payout is made of. */
export interface Acceptance {
  id: string;
  provider: ReportingProvider;
  lineId: string;
  /** The newest change that it covers; 0: none. What is told after it is looked at again. */
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
  /** What the first person saw, for the second one's decision; null: what is known now. */
  through: bigint | null;
  reason: string;
  /** `user:{id}` or `cli:{login}`. */
  requestedBy: string;
  /** Another person, where the amount needs one. */
  approvedBy: string | null;
  requestId: string;
  /** Of the HTTP request or the approval, for the audit log. */
  auditId: string | null;
}

/** The amount is above what one person may accept alone. Nothing was written. */
export class AcceptanceNeedsTwo extends Error {
  constructor(
    /** Nanos. */
    readonly amount: bigint,
    readonly through: bigint,
  ) {
    super('The amount is above what one person may accept alone.');
    this.name = 'AcceptanceNeedsTwo';
  }
}

interface LineFacts {
  line: string;
  type: string;
  currency: string;
  /** The largest that anybody said of it, without sign. */
  amount: string;
  through: string;
  isLinked: boolean;
}

/**
 * Accepts a line, once for what is known of it. Imports of its provider wait, so that nothing is accepted that came meanwhile.
 * The same request again answers the same. @throws ApiError not_found, conflict; AcceptanceNeedsTwo
 */
export async function acceptLine(client: pg.ClientBase, asked: AcceptanceRequest): Promise<Acceptance> {
  const { provider, lineId, reason, requestedBy, approvedBy, requestId, auditId } = asked;
  await lockProvider(client, provider);
  const facts = await readFacts(client, provider, lineId);
  const through = asked.through ?? BigInt(facts.through);
  const known = await readAcceptances(client, facts.line);
  const same = known.find((each) => each.requestId === requestId && each.requestedBy === requestedBy);
  if (same) return { ...same, provider, lineId };
  if (known.some((each) => each.through >= through))
    throw new ApiError('conflict', 'The line was accepted already.');
  if (through === 0n && (facts.type !== 'payout' || facts.isLinked))
    throw new ApiError('conflict', 'There is nothing to accept: the line was told in one way only.');
  const amount = BigInt(facts.amount) * 10n ** BigInt(9 - minorDigits(facts.currency));
  if (approvedBy === null && amount > (await readLimit(client)))
    throw new AcceptanceNeedsTwo(amount, through);
  const { rows } = await client.query<Pick<Acceptance, 'id' | 'recordedAt'>>(
    `INSERT INTO provider_line_acceptances (id, line, through, reason, requested_by, approved_by, request_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id, recorded_at AS "recordedAt"`,
    [newId(), facts.line, through.toString(), reason, requestedBy, approvedBy, requestId],
  );
  await audit(client, {
    ...{ actor: approvedBy ?? requestedBy, action: 'provider-line.accepted', requestId: auditId },
    ...{
      subject: `line:${provider}:${lineId}`,
      after: { reason, requestedBy, approvedBy, through: through.toString() },
    },
  });
  const made = rows[0] as Pick<Acceptance, 'id' | 'recordedAt'>;
  return { ...made, provider, lineId, through, reason, requestedBy, approvedBy, requestId };
}

async function readFacts(
  client: pg.ClientBase,
  provider: ReportingProvider,
  lineId: string,
): Promise<LineFacts> {
  const { rows } = await client.query<LineFacts>(
    `SELECT l.id::text AS line, l.type, l.currency,
       greatest(abs(l.amount_minor), (SELECT max(abs((c.content ->> 'amountMinor')::bigint)) FROM provider_line_changes c
         WHERE c.line = l.id))::text AS amount,
       (SELECT coalesce(max(c.id), 0) FROM provider_line_changes c WHERE c.line = l.id)::text AS through,
       EXISTS (SELECT FROM provider_line_payouts p WHERE p.provider = l.provider AND p.payout_id = l.subject_id
         AND p.line <> l.id) AS "isLinked"
     FROM provider_report_lines l WHERE l.provider = $1 AND l.line_id = $2`,
    [provider, lineId],
  );
  if (!rows[0]) throw new ApiError('not_found', 'There is no such line.');
  return rows[0];
}

type KnownAcceptance = Omit<Acceptance, 'provider' | 'lineId'>;

async function readAcceptances(client: pg.ClientBase, line: string): Promise<KnownAcceptance[]> {
  const { rows } = await client.query<Omit<KnownAcceptance, 'through'> & { through: string }>(
    `SELECT id, through::text, reason, requested_by AS "requestedBy", approved_by AS "approvedBy", recorded_at AS "recordedAt",
       request_id AS "requestId" FROM provider_line_acceptances WHERE line = $1 ORDER BY id`,
    [line],
  );
  return rows.map(({ through, ...row }) => ({ ...row, through: BigInt(through) }));
}

/** What one person may do alone, in nanos: of all programs the same. */
async function readLimit(client: pg.ClientBase): Promise<bigint> {
  const { rows } = await client.query<{ amount: string }>(
    `SELECT amount::text FROM desk_limits WHERE name = 'adjustment'`,
  );
  return BigInt(rows[0]?.amount ?? 0);
}
