import { useNavigate } from '@tanstack/react-router';
import { endSession, leave } from './session.js';

/** Ends the session by a call of the server, then shows the page to sign in. */
export function useSignOut(): (end: () => Promise<unknown>) => Promise<void> {
  const navigate = useNavigate();
  return async (end) => {
    await endSession(end);
    await navigate({ to: '/sign-in', ignoreBlocker: true });
    leave();
    // What was typed and made in this tab. A session that only ran out is continued.
    sessionStorage.clear();
  };
}
