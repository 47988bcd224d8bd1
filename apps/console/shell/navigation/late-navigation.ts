import { lazyRouteComponent } from '@tanstack/react-router';

/** Visitors have no navigation, so it is loaded with the first page of a session. */
export const Navigation = lazyRouteComponent(() => import('./sidebar.js'), 'Sidebar');
export const Tabs = lazyRouteComponent(() => import('./section-tabs.js'), 'SectionTabs');
