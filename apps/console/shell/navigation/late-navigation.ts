import { lazyRouteComponent } from '@tanstack/react-router';

/** Visitors have neither navigation nor search, so they are loaded with the first page of a session. */
export const Navigation = lazyRouteComponent(() => import('./sidebar.js'), 'Sidebar');
export const Tabs = lazyRouteComponent(() => import('./section-tabs.js'), 'SectionTabs');
export const Palette = lazyRouteComponent(() => import('../palette/palette.js'), 'SearchButton');
