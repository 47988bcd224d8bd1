/** Loads the page even if the browser never reports a paint. */
const AT_LAST_MS = 1_000;
let isStarted = false;

/** Loads the page once its head, which came with the document, is painted; see `landing.plugin.ts`. */
function start(): void {
  if (isStarted) return;
  isStarted = true;
  for (const part of document.querySelectorAll<HTMLLinkElement>('link[data-after-paint="part"]'))
    part.rel = 'modulepreload';
  const page = document.querySelector<HTMLLinkElement>('link[data-after-paint="page"]');
  if (page) void import(/* @vite-ignore */ page.href);
}

// A background tab never paints, but should be ready when people switch to it.
const isDrawn = document.visibilityState === 'visible';
if (isDrawn && PerformanceObserver.supportedEntryTypes.includes('paint')) {
  const observer = new PerformanceObserver(() => {
    observer.disconnect();
    start();
  });
  observer.observe({ type: 'paint', buffered: true });
  setTimeout(start, AT_LAST_MS);
} else {
  start();
}
