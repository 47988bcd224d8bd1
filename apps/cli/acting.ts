import type pg from 'pg';
import { findByEmail } from '#apps/billing/people/person.store.js';
import type { Actor, Role } from '#identity/role.js';
import { OperatorError } from '#platform/errors.js';

const VARIABLE = 'TOLLGATE_AS';

/** Of every command that moves money or decides about prices, roles and accounts. */
export const AS_OPTION = [
  '--as <email>',
  `who is acting, a person of the console; else ${VARIABLE}`,
] as const;

export interface Acting {
  as?: string;
}

/**
 * The person who acts, as the console would know them: the same rules hold for them here. @throws OperatorError without one,
 * or one who may not
 */
export async function actingPerson(pool: pg.Pool, acting: Acting, roles: readonly Role[]): Promise<Actor> {
  const actor = await namedPerson(pool, acting, roles);
  if (actor) return actor;
  throw new OperatorError(
    `Say who is acting: --as EMAIL or ${VARIABLE}, a person with the role ${roles.join(' or ')}.`,
  );
}

/** The same, or null where nobody is named and there never was an administrator whom one could name. */
export async function actingPersonIfAny(
  pool: pg.Pool,
  acting: Acting,
  roles: readonly Role[],
): Promise<Actor | null> {
  const { rowCount } = await pool.query('SELECT FROM administrators LIMIT 1');
  return rowCount === 0 ? namedPerson(pool, acting, roles) : actingPerson(pool, acting, roles);
}

async function namedPerson(
  pool: pg.Pool,
  { as = process.env[VARIABLE] }: Acting,
  roles: readonly Role[],
): Promise<Actor | null> {
  if (!as) return null;
  const email = as.trim().toLowerCase();
  const person = await findByEmail(pool, email);
  if (!person || person.disabled) throw new OperatorError(`Nobody with the address ${email} may act.`);
  if (!roles.some((role) => person.roles.includes(role)))
    throw new OperatorError(`${email} may not do this: it needs the role ${roles.join(' or ')}.`);
  const { id: userId, accountId } = person;
  return { userId, sessionId: 'cli', accountId, email, roles: person.roles };
}
