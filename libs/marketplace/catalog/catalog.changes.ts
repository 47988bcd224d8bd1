import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { isDeepStrictEqual } from 'node:util';
import { outboxInsert, type OutboxRelay, outboxRow } from '#bus/outbox.js';
import { topics } from '#bus/topics.js';
import { type EntityTransaction, inEntityTransaction } from '#database/entity-transaction.js';
import type { AuditAction } from '#identity/audit-actions.js';
import { audit } from '#identity/audit-log.js';
import { isDuplicate } from '#database/database.js';
import { ApiError } from '#platform/errors.js';
import type { DoneBy } from '../prices/proposal.service.js';

/** The effect of a catalog change, for the audit log, without secrets. */
export interface CatalogChange<T> {
  readonly result: T;
  readonly action: AuditAction;
  readonly subject: string;
  readonly before?: unknown;
  readonly after: unknown;
}

/**
 * Changes of the catalog: one at a time, under the lock that excludes holds, with an audit log entry and a message to
 * every gateway.
 */
export class CatalogChanges {
  constructor(
    private readonly source: DataSource,
    private readonly relay: Pick<OutboxRelay, 'wake'>,
  ) {}

  /** @throws ApiError `conflict` if it exists already */
  async make<T>(by: DoneBy, work: (transaction: EntityTransaction) => Promise<CatalogChange<T>>): Promise<T> {
    const result = await inEntityTransaction(this.source, (transaction) =>
      changeCatalog(transaction.client, by, () => work(transaction)),
    ).catch(refuseTwice);
    this.wake();
    return result;
  }

  /** After the commit of a change that was made in another transaction. */
  wake(): void {
    this.relay.wake();
  }
}

/**
 * Makes a change in the caller's transaction, who wakes the outbox after it. One that leaves everything as it is, is
 * neither logged nor announced.
 */
export async function changeCatalog<T>(
  client: pg.ClientBase,
  by: DoneBy,
  work: () => Promise<CatalogChange<T>>,
): Promise<T> {
  await client.query('SELECT lock_catalog()');
  const { result, ...record } = await work();
  if (isDeepStrictEqual(record.before, record.after)) return result;
  await audit(client, { ...by, ...record });
  const { rows } = await client.query<{ revision: bigint }>('SELECT revision FROM catalog_revision');
  const event = { revision: String(rows[0]!.revision), what: record.subject.split(':')[0] ?? 'catalog' };
  await client.query(outboxInsert('billing', [outboxRow(topics.catalogChanged, event)]));
  return result;
}

function refuseTwice(error: unknown): never {
  throw isDuplicate(error)
    ? new ApiError('conflict', 'This name is already taken.', { cause: error })
    : error;
}
