import { redirect } from '@tanstack/react-router';
import { loadTexts, type Namespace } from '../i18n/i18n.js';
import { currentSession, mayAny, type UserRole } from './session.js';

/** The user may not open the page; the server refuses its data, too. */
export class NotForYou extends Error {}

/** For `beforeLoad` of an area: leads visitors to sign-in and back, and refuses people without the role. */
export function onlyFor(...roles: UserRole[]) {
  return async ({ location }: { location: { href: string } }): Promise<void> => {
    const session = await currentSession();
    if (!session) throw redirect({ to: '/sign-in', search: { next: location.href } });
    if (!mayAny(session, roles)) throw new NotForYou();
  };
}

/** For `beforeLoad` of a page that is hidden while support views a customer's account. */
export async function notForViewers(): Promise<void> {
  if ((await currentSession())?.viewing) throw new NotForYou();
}

/** For `loader`: loads texts before a page is shown. */
export function textsOf(...namespaces: Namespace[]) {
  return () => loadTexts(namespaces);
}

/** For `loader`: texts that only signed-in people need. */
export function textsOfSession(...namespaces: Namespace[]) {
  return async (): Promise<void> => {
    if (await currentSession()) await loadTexts(namespaces);
  };
}
