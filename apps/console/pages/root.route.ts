import { createRootRoute } from '@tanstack/react-router';
import { Navigation, Palette, Tabs } from '../shell/navigation/late-navigation.js';
import { currentSession } from '../shell/session.js';

/** The root of all pages, which loads the session. The router draws the frame. */
export const rootRoute = createRootRoute({
  beforeLoad: async (): Promise<void> => {
    // Pages must be able to say that the relay is away.
    await currentSession().catch(() => null);
  },
  loader: async (): Promise<void> => {
    if (await currentSession().catch(() => null))
      await Promise.all([Navigation.preload?.(), Tabs.preload?.(), Palette.preload?.()]);
  },
});

/** A page's parent and path, for `createRoute`. */
export function below<Parent, const Path extends string>(parent: Parent, path: Path) {
  return { getParentRoute: () => parent, path };
}
