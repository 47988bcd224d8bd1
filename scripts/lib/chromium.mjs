// The browser for testing the console's pages: the system's, or else its package.
import { missingPrograms } from './system-packages.mjs';

/** It has the Chinese characters for screenshots. */
const FONT = 'fonts-droid-fallback';
/** The headless build first, since it opens pages faster. */
const PROGRAMS = ['chromium-headless-shell', 'chromium'];

/** CHROMIUM names a browser with another name. @returns why there is no browser, or null if there is one */
export function missingChromium(say) {
  const named = process.env.CHROMIUM;
  if (named) return missingPrograms({ [named]: `chromium ${FONT}` }, say);
  const [light, full] = PROGRAMS;
  const why = missingPrograms({ [light]: `${light} ${FONT}` }, say);
  return why === null ? null : missingPrograms({ [full]: `${full} ${FONT}` }, say);
}
