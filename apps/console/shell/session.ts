import { type Query, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, queryClient, sendToken, type Shape } from '../api/client.js';

export type UserRole = Shape<'Session'>['roles'][number];

const SESSION = ['session'];

const forgets = new Set<() => void>();

/** For data that is kept in the memory of this tab: called once somebody else, or nobody, is signed in. */
export function whenPersonLeaves(forget: () => void): void {
  forgets.add(forget);
}

export const sessionQuery = {
  queryKey: SESSION,
  queryFn: async (): Promise<Shape<'Session'> | null> => {
    const session = await askWho();
    const before = queryClient.getQueryData<Shape<'Session'> | null>(SESSION);
    if (before !== undefined && !isSameAccount(before, session)) {
      setSession(session);
      void queryClient.resetQueries({ predicate: isOfSession });
    }
    return session;
  },
  // It ends when the server says so, not by time.
  staleTime: Infinity,
  // Somebody else may have signed in in another tab.
  refetchOnWindowFocus: 'always' as const,
};

async function askWho(): Promise<Shape<'Session'> | null> {
  const { session } = (await api.GET('/api/public/session')).data!;
  sendToken(session?.csrfToken ?? null);
  return session;
}

/** Whether both may see the same data. */
function isSameAccount(one: Shape<'Session'> | null, other: Shape<'Session'> | null): boolean {
  return one?.userId === other?.userId && one?.viewing?.accountId === other?.viewing?.accountId;
}

/** Who is signed in, if anybody; asks the server once. */
export function currentSession(): Promise<Shape<'Session'> | null> {
  return queryClient.ensureQueryData(sessionQuery);
}

export function useSession(): Shape<'Session'> | null {
  return useQuery(sessionQuery).data ?? null;
}

/** Outside of components, such as when an answer arrives: whether this person is still signed in. */
export function isSignedIn(userId: string): boolean {
  return queryClient.getQueryData<Shape<'Session'> | null>(SESSION)?.userId === userId;
}

/** State that is dropped when somebody else signs in, such as a secret shown once. */
export function useOwnState<T>(): [T | null, (value: T | null) => void] {
  const owner = useSession()?.userId ?? null;
  const [kept, keep] = useState<{ owner: string | null; value: T | null }>({ owner, value: null });
  return [kept.owner === owner ? kept.value : null, (value) => keep({ owner, value })];
}

/** Whether support is viewing a customer's console, where nothing can be changed. */
export function useIsViewing(): boolean {
  return (useSession()?.viewing ?? null) !== null;
}

/** Outside of components. */
export function isViewing(): boolean {
  return (queryClient.getQueryData<Shape<'Session'> | null>(SESSION)?.viewing ?? null) !== null;
}

/** After something in the session has changed. */
export async function readSessionAgain(): Promise<void> {
  queryClient.setQueryData(SESSION, await sessionQuery.queryFn());
}

/** After signing in. */
export function enter(session: Shape<'Session'>): void {
  change(session);
}

/** After the session has ended, here or on the server. */
export function leave(): void {
  change(null);
}

/** While signing out, nobody has to be told that the session has ended. */
let isLeaving = false;

/** Asks the server to end this session. Call `leave` afterwards. */
export async function endSession(ask: () => Promise<unknown>): Promise<void> {
  isLeaving = true;
  try {
    await ask();
  } catch (error) {
    isLeaving = false;
    throw error;
  }
}

/** Called when the live connection is closed: the session ended, which leads to sign-in, or shows another account. */
export async function sessionChanged(): Promise<void> {
  if (isLeaving) return;
  await api.GET('/api/session');
  await readSessionAgain();
}

/** Cached data belonged to another user, or to nobody. */
function change(session: Shape<'Session'> | null): void {
  isLeaving = false;
  sendToken(session?.csrfToken ?? null);
  queryClient.removeQueries({ predicate: isOfSession });
  setSession(session);
}

function setSession(session: Shape<'Session'> | null): void {
  const before = queryClient.getQueryData<Shape<'Session'> | null>(SESSION);
  if (before && before.userId !== session?.userId) {
    // Answers to changes are kept for a while, too, such as a key that is shown once.
    const mutations = queryClient.getMutationCache();
    for (const each of mutations.getAll()) if (each.state.status !== 'pending') mutations.remove(each);
    for (const forget of forgets) forget();
  }
  queryClient.setQueryData(SESSION, session);
}

/** Everything cached in a session, except who is signed in. */
function isOfSession({ queryKey }: Query): boolean {
  return queryKey[0] !== SESSION[0];
}

/** Roles of staff. */
export const STAFF: readonly UserRole[] = ['support', 'finance', 'admin'];

/** Whether the user has one of the roles. Being an administrator implies no other, and viewing an account leaves only `user`. */
export function mayAny(session: Shape<'Session'> | null, roles: readonly UserRole[]): boolean {
  if (session === null) return false;
  const own: readonly UserRole[] = session.viewing === null ? session.roles : ['user'];
  return roles.some((role) => own.includes(role));
}

/** Views the console as the owner of an account sees it. */
export async function beginView(
  accountId: string,
  why: { reason: string; ticketId?: string | undefined },
): Promise<void> {
  const body = { reason: why.reason, ...(why.ticketId ? { ticketId: why.ticketId } : {}) };
  await api.POST('/api/support/accounts/{accountId}/view', { params: { path: { accountId } }, body });
  await lookAgain();
}

export async function endView(): Promise<void> {
  await api.DELETE('/api/support/view');
  await lookAgain();
}

/** Reads the session again and drops cached data, which belongs to another account. */
async function lookAgain(): Promise<void> {
  change(await askWho());
}

/** Whether the server reports that the view has ended. The page then reloads its data as the user's own. */
export async function isViewOver(): Promise<boolean> {
  const session = await askWho();
  if (session?.viewing) return false;
  queryClient.setQueryData(SESSION, session);
  await queryClient.resetQueries({ predicate: isOfSession });
  return true;
}
