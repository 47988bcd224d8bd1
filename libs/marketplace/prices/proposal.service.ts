import type pg from 'pg';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { inTransaction } from '#database/database.js';
import type { AuditAction } from '#identity/audit-actions.js';
import { audit } from '#identity/audit-log.js';
import { decideAlone } from '#identity/installation.js';
import { refuseOfFormer } from '#identity/staff.js';
import { lockOutflows } from '#ledger/postings/outflow.js';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { type PriceChange, changeSubject } from './price-change.js';
import { priceFaultText } from './price-fault.js';
import { readPrices } from './prices-here.js';
import { basedChange, effectiveMs, faultOf, type ProposedChange } from './based-change.js';
import { authorOf, secondPersonReason } from './price-duties.js';
import type { LargeMove } from './price-move.js';
import type { Proposal } from './proposal.js';
import { conflict, insertVersions, newerVersions } from './proposal-versions.js';

/** The actor, as named in the audit log, and their request. */
export interface DoneBy {
  readonly actor: string;
  readonly requestId: string | null;
}

export interface NewProposal {
  readonly changes: readonly PriceChange[];
  readonly effectiveAt: Date | null;
  readonly note: string;
}

/** Stores what belongs to a new proposal, in its transaction. */
export type ProposalNote = (client: pg.ClientBase, proposal: Proposal) => Promise<void>;

/** The revision of a proposal that someone has seen. */
interface Looked {
  readonly id: string;
  readonly revision: number;
}

export interface ProposalServiceOptions {
  readonly pool: pg.Pool;
  /** How long an open proposal can be confirmed, in milliseconds. */
  readonly lifeMs: number;
  /** Called after a commit that announced something. */
  readonly onCommitted?: () => void;
}

const COLUMNS = `id, revision, note, changes, effective_at AS "effectiveAt", proposed_by AS "proposedBy", revised_by AS "revisedBy",
  confirmed_alone AS "confirmedAlone",
  CASE WHEN state = 'open' AND expires_at <= clock_timestamp() THEN 'expired' ELSE state END AS state,
  proposed_at AS "proposedAt", expires_at AS "expiresAt", decided_by AS "decidedBy", decided_at AS "decidedAt"`;

/**
 * Prices, multipliers and rules change through a proposal that someone reviews and confirms. A confirmation inserts all
 * its versions at once, under the lock that excludes holds. If a subject has a newer version than its proposer saw, it
 * is refused.
 */
export class ProposalService {
  constructor(private readonly options: ProposalServiceOptions) {}

  /** `also` stores what belongs to the proposal, in its transaction. @throws ApiError naming the wrong change */
  async propose(wanted: NewProposal, by: DoneBy, also?: ProposalNote): Promise<Proposal> {
    return inTransaction(this.options.pool, async (client) => {
      const changes = await basedChanges(client, wanted);
      const { rows } = await client.query<Proposal>(
        `INSERT INTO price_proposals (id, note, effective_at, changes, proposed_by, expires_at)
         VALUES ($1, $2, $3, $4, $5, clock_timestamp() + $6 * interval '1 millisecond') RETURNING ${COLUMNS}`,
        [newId(), wanted.note, wanted.effectiveAt, JSON.stringify(changes), by.actor, this.options.lifeMs],
      );
      const proposal = rows[0]!;
      await noteDecision(client, proposal, { ...by, action: 'prices.proposed' });
      await also?.(client, proposal);
      return proposal;
    });
  }

  /** Replaces the changes, based on current versions. @throws ApiError if it changed meanwhile */
  async revise({ id, revision }: Looked, wanted: NewProposal, by: DoneBy): Promise<Proposal> {
    return inTransaction(this.options.pool, async (client) => {
      await lockOpen(client, id, revision);
      const changes = await basedChanges(client, wanted);
      const { rows } = await client.query<Proposal>(
        `UPDATE price_proposals SET revision = revision + 1, note = $2, effective_at = $3, changes = $4,
           expires_at = clock_timestamp() + $5 * interval '1 millisecond', revised_by = $6
         WHERE id = $1 RETURNING ${COLUMNS}`,
        [id, wanted.note, wanted.effectiveAt, JSON.stringify(changes), this.options.lifeMs, by.actor],
      );
      await noteDecision(client, rows[0]!, { ...by, action: 'prices.revised' });
      return rows[0]!;
    });
  }

  /** @throws ApiError if it was decided, has expired or was revised meanwhile */
  async cancel(id: string, revision: number, by: DoneBy): Promise<Proposal> {
    return inTransaction(this.options.pool, async (client) => {
      await lockOpen(client, id, revision);
      const proposal = await decide(client, { id, state: 'cancelled' }, by);
      await noteDecision(client, proposal, { ...by, action: 'prices.cancelled' });
      return proposal;
    });
  }

  /**
   * Creates the versions of a proposal. Everything slow is written before the catalog is locked, because holds wait for
   * the lock. The author alone confirms small changes. @throws ApiError `conflict` if it was decided or revised, a
   * subject has a newer version, its time has passed, or the author of a large change has left the staff;
   * `second_person_required`
   */
  async confirm(id: string, revision: number, by: DoneBy): Promise<Proposal> {
    const confirmed = await inTransaction(this.options.pool, async (client) => {
      await lockOutflows(client, by.actor);
      const open = await lockOpen(client, id, revision);
      await requireOther(client, open, by);
      const proposal = await decide(client, { id, state: 'confirmed' }, by);
      await Promise.all([
        noteDecision(client, proposal, { ...by, action: 'prices.confirmed' }),
        ...open.changes.map(({ change, before }) =>
          audit(client, {
            ...by,
            action: `${change.kind}.changed`,
            subject: change.kind === 'price' ? `model:${change.model}` : `group:${change.group}`,
            before: before ?? undefined,
            after: { ...change, effectiveAt: open.effectiveAt?.toISOString() ?? 'now', proposalId: id },
          }),
        ),
      ]);
      await insertVersions(client, open);
      return proposal;
    });
    this.options.onCommitted?.();
    return confirmed;
  }

  /** @throws ApiError `not_found` */
  async find(id: string): Promise<Proposal> {
    const { rows } = await this.options.pool.query<Proposal>(
      `SELECT ${COLUMNS} FROM price_proposals WHERE id = $1`,
      [id],
    );
    return rows[0] ?? throwNotFound();
  }

  /** Why someone other than its author must confirm an open proposal, or null. */
  async needsSecondPerson(proposal: Proposal): Promise<LargeMove | null> {
    if (proposal.state !== 'open') return null;
    return inTransaction(this.options.pool, (client) => secondPersonReason(client, proposal));
  }

  /** Newest first, older than an id; all, or only those that can still be confirmed. */
  async list(query: { limit: number; beforeId: string | null; openOnly: boolean }): Promise<Proposal[]> {
    const { rows } = await this.options.pool.query<Proposal>(
      `SELECT ${COLUMNS} FROM price_proposals
       WHERE ($2::text IS NULL OR id < $2) AND (NOT $3 OR state = 'open' AND expires_at > clock_timestamp())
       ORDER BY id DESC LIMIT $1`,
      [query.limit, query.beforeId, query.openOnly],
    );
    return rows;
  }

  /** What happened to the subjects of a proposal since it was made, in words. Empty if it can be confirmed unchanged. */
  async staleness(proposal: Proposal): Promise<string[]> {
    if (proposal.state !== 'open') return [];
    const book = await loadPriceBook(this.options.pool);
    return proposal.changes.flatMap((each) => newerVersions(book, each));
  }
}

function throwNotFound(): never {
  throw new ApiError('not_found', 'There is no such proposal.');
}

async function basedChanges(client: pg.ClientBase, wanted: NewProposal): Promise<ProposedChange[]> {
  const here = await readPrices(client);
  const atMs = effectiveMs(wanted.effectiveAt, here.nowMs);
  const seen = new Set<string>();
  return wanted.changes.map((change, at) => {
    const subject = changeSubject(change);
    const fault = faultOf(here, change, atMs);
    const message = seen.has(subject) ? `The ${subject} is changed twice.` : fault && priceFaultText(fault);
    if (message) throw new ApiError('invalid_value', message, { param: `changes.${at}` });
    seen.add(subject);
    return basedChange(here.book, change, atMs);
  });
}

async function lockOpen(client: pg.ClientBase, id: string, revision: number): Promise<Proposal> {
  const { rows } = await client.query<Proposal>(
    `SELECT ${COLUMNS} FROM price_proposals WHERE id = $1 FOR UPDATE`,
    [id],
  );
  const proposal = rows[0] ?? throwNotFound();
  if (proposal.state === 'expired') throw conflict('The proposal has expired: propose it again.');
  if (proposal.state !== 'open')
    throw conflict(`The proposal was ${proposal.state} by ${proposal.decidedBy} already.`);
  if (proposal.revision !== revision) {
    throw conflict(`The proposal is now at revision ${proposal.revision}: review it again.`);
  }
  return proposal;
}

async function requireOther(client: pg.ClientBase, proposal: Proposal, by: DoneBy): Promise<void> {
  const reason = await secondPersonReason(client, proposal);
  if (reason === null) return;
  const author = authorOf(proposal);
  if (author !== by.actor)
    return refuseOfFormer(client, author.replace(/^user:/, ''), 'Revise it, or propose it again.');
  const subject = `price-proposal:${proposal.id}`;
  const decision = { actor: by.actor, why: 'second-person', subject, accountId: null } as const;
  await decideAlone(client, decision, `${reason.message} Another administrator must confirm it.`);
  await client.query('UPDATE price_proposals SET confirmed_alone = true WHERE id = $1', [proposal.id]);
}

async function decide(
  client: pg.ClientBase,
  { id, state }: { id: string; state: 'confirmed' | 'cancelled' },
  by: DoneBy,
): Promise<Proposal> {
  const { rows } = await client.query<Proposal>(
    `UPDATE price_proposals SET state = $2, decided_by = $3, decided_at = clock_timestamp()
     WHERE id = $1 RETURNING ${COLUMNS}`,
    [id, state, by.actor],
  );
  return rows[0]!;
}

async function noteDecision(
  client: pg.ClientBase,
  proposal: Proposal,
  by: DoneBy & { action: AuditAction },
): Promise<void> {
  const { id, revision, note, effectiveAt, changes } = proposal;
  const after = { revision, note, effectiveAt, changes: changes.map(({ change }) => change) };
  await audit(client, { ...by, subject: `price-proposal:${id}`, after });
}
