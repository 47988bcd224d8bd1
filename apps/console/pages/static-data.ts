import type { NavArea, NavPlace } from '../shell/navigation.js';

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The part of the navigation that the pages below are listed in, and who sees it. */
    area?: NavArea;
    nav?: NavPlace;
  }
}
