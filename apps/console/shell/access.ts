import { redirect } from '@tanstack/react-router';
import { loadTexts, type Namespace } from '../i18n/i18n.js';
import { currentSession, mayAny, type UserRole } from './session.js';

/** The signed-in user may not see the page. The server refuses its data, too. */
export class NotForYou extends Error {}

/** For `beforeLoad` of an area: sends people without a session to sign in and back, and refuses those without the role. */
export function onlyFor(...roles: UserRole[]) {
  return async ({ location }: { location: { href: string } }): Promise<void> => {
    const session = await currentSession();
    if (!session) throw redirect({ to: '/sign-in', search: { next: location.href } });
    if (!mayAny(session, roles)) throw new NotForYou();
  };
}

/** For `beforeLoad` of a page that is of no use to support who view a customer's account. */
export async function notForViewers(): Promise<void> {
  if ((await currentSession())?.viewing) throw new NotForYou();
}

/** For `loader` of an area: its pages are shown when their texts are there. */
export function textsOf(...namespaces: Namespace[]) {
  return () => loadTexts(namespaces);
}

/** The same for what only people who are signed in see of a page. */
export function textsOfSession(...namespaces: Namespace[]) {
  return async (): Promise<void> => {
    if (await currentSession()) await loadTexts(namespaces);
  };
}
