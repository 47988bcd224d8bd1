import type pg from 'pg';
import { outboxInsert, outboxRow } from '#bus/outbox.js';
import { topics } from '#bus/topics.js';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { inTransaction } from '#database/database.js';
import { audit } from '#identity/audit-log.js';
import { noteDoneAlone, readFact } from '#identity/installation.js';
import { lockOutflows } from '#ledger/postings/outflow.js';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { type PriceBook } from '#pricing/price-book.js';
import { changeOf, changeText, type PriceChange, subjectOf, versionsOf } from '#pricing/price-change.js';
import { basedChange, effectiveMs, faultOf, type ProposedChange } from './based-change.js';
import { authorOf, secondPersonReason } from './price-duties.js';
import type { Proposal } from './proposal.js';

/** Who does it: as the audit log names people, and the request by which they do. */
export interface DoneBy {
  readonly actor: string;
  readonly requestId: string | null;
}

export interface NewProposal {
  readonly changes: readonly PriceChange[];
  readonly effectiveAt: Date | null;
  readonly note: string;
}

export interface ProposalServiceOptions {
  readonly pool: pg.Pool;
  /** An open proposal can be confirmed for so long, milliseconds. */
  readonly lifeMs: number;
  /** Told after a commit that announced something. */
  readonly onCommitted?: () => void;
}

const COLUMNS = `id, revision, note, changes, effective_at AS "effectiveAt", proposed_by AS "proposedBy", revised_by AS "revisedBy",
  confirmed_alone AS "confirmedAlone",
  CASE WHEN state = 'open' AND expires_at <= clock_timestamp() THEN 'expired' ELSE state END AS state,
  proposed_at AS "proposedAt", expires_at AS "expiresAt", decided_by AS "decidedBy", decided_at AS "decidedAt"`;

const UNIQUE_VIOLATION = '23505';

/**
 * How prices, multipliers and rules change: by a proposal that somebody looks at and confirms. A confirmation inserts all
 * its versions at once, under the lock that no hold is deciding under; one whose subjects have newer versions than its
 * proposer saw is refused.
 */
export class ProposalService {
  constructor(private readonly options: ProposalServiceOptions) {}

  /** @throws ApiError naming the change at fault. */
  async propose(wanted: NewProposal, by: DoneBy): Promise<Proposal> {
    return inTransaction(this.options.pool, async (client) => {
      const changes = await basedChanges(client, wanted);
      const { rows } = await client.query<Proposal>(
        `INSERT INTO price_proposals (id, note, effective_at, changes, proposed_by, expires_at)
         VALUES ($1, $2, $3, $4, $5, clock_timestamp() + $6 * interval '1 millisecond') RETURNING ${COLUMNS}`,
        [newId(), wanted.note, wanted.effectiveAt, JSON.stringify(changes), by.actor, this.options.lifeMs],
      );
      const proposal = rows[0]!;
      await noteDecision(client, 'prices.proposed', proposal, by);
      return proposal;
    });
  }

  /** Replaces what is proposed, on the versions that there are now. @throws ApiError when it changed meanwhile. */
  async revise(id: string, revision: number, wanted: NewProposal, by: DoneBy): Promise<Proposal> {
    return inTransaction(this.options.pool, async (client) => {
      await lockOpen(client, id, revision);
      const changes = await basedChanges(client, wanted);
      const { rows } = await client.query<Proposal>(
        `UPDATE price_proposals SET revision = revision + 1, note = $2, effective_at = $3, changes = $4,
           expires_at = clock_timestamp() + $5 * interval '1 millisecond', revised_by = $6
         WHERE id = $1 RETURNING ${COLUMNS}`,
        [id, wanted.note, wanted.effectiveAt, JSON.stringify(changes), this.options.lifeMs, by.actor],
      );
      await noteDecision(client, 'prices.revised', rows[0]!, by);
      return rows[0]!;
    });
  }

  /** @throws ApiError when it was decided, has expired or was revised meanwhile. */
  async cancel(id: string, revision: number, by: DoneBy): Promise<Proposal> {
    return inTransaction(this.options.pool, async (client) => {
      await lockOpen(client, id, revision);
      const proposal = await decide(client, id, 'cancelled', by);
      await noteDecision(client, 'prices.cancelled', proposal, by);
      return proposal;
    });
  }

  /**
   * Makes the versions of a proposal. Everything that takes long is written before the catalog is locked, since holds wait
   * for the lock. Who wrote it confirms alone what is small. @throws ApiError `conflict` when it was decided or revised, a
   * subject has a newer version, or its time has passed; `second_person_required`
   */
  async confirm(id: string, revision: number, by: DoneBy): Promise<Proposal> {
    const confirmed = await inTransaction(this.options.pool, async (client) => {
      await lockOutflows(client, by.actor);
      const open = await lockOpen(client, id, revision);
      await requireOther(client, open, by);
      const proposal = await decide(client, id, 'confirmed', by);
      await Promise.all([
        noteDecision(client, 'prices.confirmed', proposal, by),
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

  /** Why another person than its author must confirm an open proposal, as a sentence, or null. */
  async needsSecondPerson(proposal: Proposal): Promise<string | null> {
    if (proposal.state !== 'open') return null;
    return inTransaction(this.options.pool, (client) => secondPersonReason(client, proposal));
  }

  /** Newest first, those before an id; all, or only those that can still be confirmed. */
  async list(query: { limit: number; beforeId: string | null; openOnly: boolean }): Promise<Proposal[]> {
    const { rows } = await this.options.pool.query<Proposal>(
      `SELECT ${COLUMNS} FROM price_proposals
       WHERE ($2::text IS NULL OR id < $2) AND (NOT $3 OR state = 'open' AND expires_at > clock_timestamp())
       ORDER BY id DESC LIMIT $1`,
      [query.limit, query.beforeId, query.openOnly],
    );
    return rows;
  }

  /** What became of the subjects of a proposal since it was made, in words; empty when it can be confirmed as it is. */
  async staleness(proposal: Proposal): Promise<string[]> {
    if (proposal.state !== 'open') return [];
    const book = await loadPriceBook(this.options.pool);
    return proposal.changes.flatMap((each) => newerVersions(book, each));
  }
}

function throwNotFound(): never {
  throw new ApiError('not_found', 'There is no such proposal.');
}

function conflict(message: string): ApiError {
  return new ApiError('conflict', message);
}

async function basedChanges(client: pg.ClientBase, wanted: NewProposal): Promise<ProposedChange[]> {
  const book = await loadPriceBook(client);
  const { rows } = await client.query<{ nowMs: number }>(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"',
  );
  const atMs = effectiveMs(wanted.effectiveAt, rows[0]!.nowMs);
  const seen = new Set<string>();
  return wanted.changes.map((change, at) => {
    const subject = subjectOf(change);
    const fault = seen.has(subject) ? `The ${subject} is changed twice.` : faultOf(book, change, atMs);
    if (fault) throw new ApiError('invalid_value', fault, { param: `changes.${at}` });
    seen.add(subject);
    return basedChange(book, change, atMs);
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
    throw conflict(`The proposal is at revision ${proposal.revision} by now: look at it again.`);
  }
  return proposal;
}

async function requireOther(client: pg.ClientBase, proposal: Proposal, by: DoneBy): Promise<void> {
  const reason = authorOf(proposal) === by.actor ? await secondPersonReason(client, proposal) : null;
  if (reason === null) return;
  if (!(await readFact(client, 'one-person')))
    throw new ApiError('second_person_required', `${reason} Another administrator must confirm it.`);
  const subject = `price-proposal:${proposal.id}`;
  await noteDoneAlone(client, { actor: by.actor, why: 'second-person', subject, accountId: null });
  await client.query('UPDATE price_proposals SET confirmed_alone = true WHERE id = $1', [proposal.id]);
}

async function decide(
  client: pg.ClientBase,
  id: string,
  state: 'confirmed' | 'cancelled',
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
  action: string,
  proposal: Proposal,
  by: DoneBy,
): Promise<void> {
  const { id, revision, note, effectiveAt, changes } = proposal;
  const after = { revision, note, effectiveAt, changes: changes.map(({ change }) => change) };
  await audit(client, { ...by, action, subject: `price-proposal:${id}`, after });
}

async function insertVersions(client: pg.ClientBase, proposal: Proposal): Promise<void> {
  // The lock is a table here: an operator would not call it where the other side is null.
  const { rows } = await client.query<{ hasPassed: boolean | null }>(
    'SELECT locked_at, $1::timestamptz < locked_at AS "hasPassed" FROM lock_catalog() AS locked_at',
    [proposal.effectiveAt],
  );
  if (rows[0]?.hasPassed) throw conflict('The time of the proposal has passed: revise it with another.');
  await refuseStale(client, proposal);
  try {
    await Promise.all([
      insertPrices(client, proposal),
      insertMultipliers(client, proposal),
      insertRules(client, proposal),
    ]);
  } catch (error) {
    if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
    throw conflict('A subject has a version from exactly that time: revise the proposal with another.');
  }
  const { rows: revisions } = await client.query<{ revision: bigint }>(
    'SELECT revision FROM catalog_revision',
  );
  const event = { revision: String(revisions[0]!.revision), what: 'prices' };
  await client.query(outboxInsert('billing', [outboxRow(topics.catalogChanged, event)]));
}

/** Under the lock, hence true until the commit. The book is read only to say what changed. */
async function refuseStale(client: pg.ClientBase, proposal: Proposal): Promise<void> {
  const [kinds, subjects, bases] = [
    proposal.changes.map(({ change }) => change.kind),
    proposal.changes.map(({ change }) => (change.kind === 'price' ? change.model : change.group)),
    proposal.changes.map(({ base }) => base),
  ];
  const { rows } = await client.query(
    `SELECT 1 FROM unnest($1::text[], $2::text[], $3::bigint[]) AS c (kind, subject, base)
     WHERE c.base IS DISTINCT FROM CASE c.kind
       WHEN 'price' THEN (SELECT max(id) FROM price_versions v WHERE v.model_id = c.subject)
       WHEN 'multiplier' THEN (SELECT max(id) FROM multiplier_versions v WHERE v.group_name = c.subject)
       ELSE (SELECT max(id) FROM group_rule_versions v WHERE v.group_name = c.subject) END LIMIT 1`,
    [kinds, subjects, bases],
  );
  if (rows.length === 0) return;
  const book = await loadPriceBook(client);
  const news = proposal.changes.flatMap((each) => newerVersions(book, each));
  throw conflict(`Others changed what this proposal is about: ${news.slice(0, 3).join(' ')}`);
}

function newerVersions(book: PriceBook, { change, base, before }: ProposedChange): string[] {
  const versions = versionsOf(book, change).filter((version) => base === null || version.id > BigInt(base));
  const was = before ? changeText(before) : 'none';
  return versions.map((version) => {
    const since = new Date(version.effectiveFromMs).toISOString();
    const now = changeText(changeOf(change, version.value));
    return `The ${subjectOf(change)} was ${was} when this was proposed, and is ${now} from ${since} on.`;
  });
}

const EFFECTIVE_FROM = `(SELECT coalesce(effective_at, lock_catalog()) FROM price_proposals WHERE id = $1), $1`;

async function insertPrices(client: pg.ClientBase, { id, changes }: Proposal): Promise<void> {
  const prices = changes.flatMap(({ change }) => (change.kind === 'price' ? [change] : []));
  const column = (name: string) =>
    prices.map(({ price }) => (price as Record<string, string> | null)?.[name] ?? null);
  await client.query(
    `INSERT INTO price_versions (model_id, unit_price, input_price, cached_input_price, output_price,
       cache_write_price, cache_write_1h_price, effective_from, proposal_id)
     SELECT c.*, ${EFFECTIVE_FROM}
     FROM unnest($2::text[], $3::numeric[], $4::numeric[], $5::numeric[], $6::numeric[], $7::numeric[], $8::numeric[]) AS c`,
    [
      id,
      prices.map(({ model }) => model),
      column('unitPrice'),
      column('input'),
      column('cachedInput'),
      column('output'),
      column('cacheWrite'),
      column('cacheWrite1h'),
    ],
  );
}

async function insertMultipliers(client: pg.ClientBase, { id, changes }: Proposal): Promise<void> {
  const multipliers = changes.flatMap(({ change }) => (change.kind === 'multiplier' ? [change] : []));
  await client.query(
    `INSERT INTO multiplier_versions (group_name, multiplier, effective_from, proposal_id)
     SELECT c.*, ${EFFECTIVE_FROM} FROM unnest($2::text[], $3::numeric[]) AS c`,
    [id, multipliers.map(({ group }) => group), multipliers.map(({ multiplier }) => multiplier)],
  );
}

async function insertRules(client: pg.ClientBase, { id, changes }: Proposal): Promise<void> {
  const rules = changes.flatMap(({ change }) => (change.kind === 'rule' ? [change] : []));
  await client.query(
    `INSERT INTO group_rule_versions (group_name, rule, unit_price, effective_from, proposal_id)
     SELECT c.*, ${EFFECTIVE_FROM} FROM unnest($2::text[], $3::text[], $4::numeric[]) AS c`,
    [
      id,
      rules.map(({ group }) => group),
      rules.map(({ rule }) => rule),
      rules.map((change) => (change.rule === 'none' ? null : change.unitPrice)),
    ],
  );
}
