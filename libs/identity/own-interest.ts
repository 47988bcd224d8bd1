import type pg from 'pg';
import { decideAlone } from './installation.js';

/** Why a person may not decide about an account. */
type OwnInterest = 'own' | 'invited' | 'created';

const WORDS: Record<OwnInterest, string> = {
  own: 'It is about your own account: another person must decide.',
  invited: 'It is about the account of someone you invited: another person must decide.',
  created: 'It is about an account or a person of your own making: another person must decide.',
};

/** Ties between a person and an account: it is theirs, they invited its person, created it, or requested its person's roles. */
async function ownInterest(
  client: Pick<pg.ClientBase, 'query'>,
  userId: string,
  accountId: string,
): Promise<OwnInterest | null> {
  const { rows } = await client.query<{ interest: OwnInterest | null }>(
    `SELECT CASE WHEN me.account_id = $2 THEN 'own'
       WHEN EXISTS (SELECT FROM invitations WHERE invitee_account_id = $2 AND inviter_account_id = me.account_id) THEN 'invited'
       WHEN EXISTS (SELECT FROM account_makers WHERE account_id = $2 AND maker_id = me.id) THEN 'created' END AS interest
     FROM users me WHERE me.id = $1`,
    [userId, accountId],
  );
  return rows[0]?.interest ?? null;
}

/**
 * Nobody decides anything about their own account, or that of a person whom they invited or created. Everything that
 * moves an account's money or decides about it checks this first. In an installation with one person, that person
 * decides, and this is recorded. @throws ApiError second_person_required
 */
export async function refuseOwnInterest(
  client: pg.ClientBase,
  actor: { readonly userId: string },
  accountId: string | null,
): Promise<void> {
  const interest = accountId === null ? null : await ownInterest(client, actor.userId, accountId);
  if (interest === null) return;
  const decision = { actor: `user:${actor.userId}`, subject: `account:${accountId}`, accountId };
  await decideAlone(client, { ...decision, why: 'own-interest' }, WORDS[interest]);
}

/** Records who created an account or requested the roles of its person. */
export async function noteMaker(
  client: pg.ClientBase,
  maker: { accountId: string; makerId: string; how: 'created' | 'granted' },
): Promise<void> {
  await client.query(
    'INSERT INTO account_makers (account_id, maker_id, how) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [maker.accountId, maker.makerId, maker.how],
  );
}
