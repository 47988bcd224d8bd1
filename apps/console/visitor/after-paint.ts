/** Where nothing is ever drawn, or nothing is said of it, the page is loaded all the same. */
const AT_LAST_MS = 1_000;
let isStarted = false;

/** Loads the page once its head, which came with the document, is on the screen; `landing.plugin.ts` has its parts named there. */
function start(): void {
  if (isStarted) return;
  isStarted = true;
  for (const part of document.querySelectorAll<HTMLLinkElement>('link[data-after-paint="part"]'))
    part.rel = 'modulepreload';
  const page = document.querySelector<HTMLLinkElement>('link[data-after-paint="page"]');
  if (page) void import(/* @vite-ignore */ page.href);
}

// A tab in the background draws nothing, and is to be ready when it is looked at.
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
