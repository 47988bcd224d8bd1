import type { DataSource } from 'typeorm';
import { openDataSource } from '#database/database.js';
import { ENTITIES } from '#operations/entities.js';
import type { LedgerFixture } from './ledger.js';

/** Entities on a fixture's database, with connections already open, so that concurrent requests really meet. */
export async function openEntities({ urlFor }: Pick<LedgerFixture, 'urlFor'>): Promise<DataSource> {
  const max = 8;
  const source = await openDataSource({
    url: urlFor('billing'),
    max,
    applicationName: 'test-entities',
    entities: ENTITIES,
  });
  await Promise.all(Array.from({ length: max }, () => source.query('SELECT 1')));
  return source;
}
