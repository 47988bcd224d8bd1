import type pg from 'pg';
import { findByEmail } from '#people/person.store.js';
import type { Actor, Role } from '#identity/role.js';
import { OperatorError } from '#platform/errors.js';
import { operatorName } from './operator-name.js';

const VARIABLE = 'TOLLGATE_AS';

/** For every command that changes something for people, their money or the books. */
export const AS_OPTION = [
  '--as <email>',
  `who is acting, a person of the console; else ${VARIABLE}`,
] as const;

export interface Acting {
  as?: string;
}

/**
 * The person who acts, with the same rules as in the console. @throws OperatorError without one,
 * or for one without permission
 */
export async function actingPerson(pool: pg.Pool, acting: Acting, roles: readonly Role[]): Promise<Actor> {
  const actor = await namedPerson(pool, acting, roles);
  if (actor) return actor;
  throw new OperatorError(
    `Name the person who is acting with --as EMAIL or ${VARIABLE}. They need the role ${roles.join(' or ')}.`,
  );
}

/** The same, or null if nobody is named and there has never been an administrator. */
export async function actingPersonIfAny(
  pool: pg.Pool,
  acting: Acting,
  roles: readonly Role[],
): Promise<Actor | null> {
  const { rowCount } = await pool.query('SELECT FROM administrators LIMIT 1');
  return rowCount === 0 ? namedPerson(pool, acting, roles) : actingPerson(pool, acting, roles);
}

/** Who acts, as the audit log names them, and the person if there is one. */
export interface ActingOperator {
  by: string;
  actor: Actor | null;
}

/** The person who acts, or this machine's login if there has never been an administrator. @throws OperatorError */
export async function operatorOf(
  pool: pg.Pool,
  acting: Acting,
  roles: readonly Role[],
): Promise<ActingOperator> {
  const actor = await actingPersonIfAny(pool, acting, roles);
  return { actor, by: actor ? `user:${actor.userId}` : operatorName() };
}

/** The same; a dry run needs nobody. */
export function doerUnless(
  pool: pg.Pool,
  acting: Acting & { isOnlyTried: boolean },
  roles: readonly Role[],
): Promise<ActingOperator> {
  if (acting.isOnlyTried) return Promise.resolve({ actor: null, by: operatorName() });
  return operatorOf(pool, acting, roles);
}

async function namedPerson(
  pool: pg.Pool,
  { as = process.env[VARIABLE] }: Acting,
  roles: readonly Role[],
): Promise<Actor | null> {
  if (!as) return null;
  const email = as.trim().toLowerCase();
  const person = await findByEmail(pool, email);
  if (!person || person.disabled)
    throw new OperatorError(`There is no active person with the email address ${email}.`);
  if (!roles.some((role) => person.roles.includes(role)))
    throw new OperatorError(
      `${email} cannot do this, because it needs the role ${roles.join(' or ')}. ` +
        `An administrator requests it: tollgate admin create --email ${email} --role ${roles[0]}`,
    );
  const { id: userId, accountId } = person;
  return { userId, sessionId: 'cli', accountId, email, roles: person.roles };
}
