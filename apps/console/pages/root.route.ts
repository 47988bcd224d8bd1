import { createRootRoute } from '@tanstack/react-router';
import { Navigation, Tabs } from '../shell/navigation/late-navigation.js';
import { currentSession } from '../shell/session.js';

/** Above every page: who is signed in is known. The router draws the frame, which imports what lies below this route. */
export const rootRoute = createRootRoute({
  beforeLoad: async (): Promise<void> => {
    // A relay that is away must not keep the pages from saying so.
    await currentSession().catch(() => null);
  },
  loader: async (): Promise<void> => {
    if (await currentSession().catch(() => null))
      await Promise.all([Navigation.preload?.(), Tabs.preload?.()]);
  },
});
