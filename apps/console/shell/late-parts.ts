import { lazyRouteComponent } from '@tanstack/react-router';

/** Sometimes shown above pages, but never to visitors, so it is loaded when needed. */
export const LazyViewingBanner = lazyRouteComponent(() => import('./viewing.js'), 'ViewingBanner');
export const LazySecondFactorAdvice = lazyRouteComponent(
  () => import('./second-factor.js'),
  'SecondFactorAdvice',
);
export const LazySecondFactorPage = lazyRouteComponent(
  () => import('./second-factor.js'),
  'SecondFactorPage',
);
export const LazyNotFoundPage = lazyRouteComponent(
  () => import('./navigation/not-found.page.js'),
  'NotFoundPage',
);
export const LazyOnePersonBanner = lazyRouteComponent(() => import('./one-person.js'), 'OnePersonBanner');
