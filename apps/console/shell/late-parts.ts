import { lazyRouteComponent } from '@tanstack/react-router';

/** Above pages at times, and never above those that visitors arrive at: loaded when it is needed. */
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
