import type pg from 'pg';
import { ApiError } from '#platform/errors.js';
import { audit } from './audit-log.js';

/** An installation's declarations about itself, stored when the control plane starts, so that every program and report uses the same. */
export type InstallationFact = 'one-person' | 'played-payments';

export async function readFact(
  database: Pick<pg.ClientBase, 'query'>,
  fact: InstallationFact,
): Promise<boolean> {
  const { rows } = await database.query<{ holds: boolean }>(
    'SELECT holds FROM installation WHERE fact = $1',
    [fact],
  );
  return rows[0]?.holds ?? false;
}

/** Stores it, and logs changes in the audit log. */
export async function recordFact(
  client: pg.ClientBase,
  fact: InstallationFact,
  holds: boolean,
): Promise<void> {
  const { rowCount } = await client.query(
    'UPDATE installation SET holds = $2, recorded_at = now() WHERE fact = $1 AND holds <> $2',
    [fact, holds],
  );
  if (rowCount === 0) return;
  await audit(client, {
    actor: 'system',
    action: 'installation.declared',
    subject: `installation:${fact}`,
    before: { holds: !holds },
    after: { holds },
    requestId: null,
  });
}

/** A decision that needs two people elsewhere, in an installation with one. */
export interface DoneAlone {
  /** `user:{id}`. */
  actor: string;
  why: 'own-interest' | 'second-person';
  subject: string;
  accountId: string | null;
}

/**
 * Lets one person decide alone if the installation has only one, and records it, for the closes of periods and the audit log.
 * @throws ApiError second_person_required
 */
export async function decideAlone(
  client: pg.ClientBase,
  { actor, why, subject, accountId }: DoneAlone,
  refusal: string,
): Promise<void> {
  if (!(await readFact(client, 'one-person'))) throw new ApiError('second_person_required', refusal);
  await client.query('INSERT INTO done_alone (actor, why, subject, account_id) VALUES ($1, $2, $3, $4)', [
    actor,
    why,
    subject,
    accountId,
  ]);
  const action = 'installation.done_alone';
  await audit(client, { actor, action, subject, accountId, after: { why }, requestId: null });
}
