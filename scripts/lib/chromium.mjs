// The browser that the pages of the console are tested in: the system's, else its package.
import { missingPrograms } from './system-packages.mjs';

/** It has the Chinese characters of the images. */
const FONT = 'fonts-droid-fallback';
/** The headless build comes first: it opens pages faster. */
const PROGRAMS = ['chromium-headless-shell', 'chromium'];

/** A browser that is called otherwise is named by CHROMIUM. @returns why there is no browser, or null when there is */
export function missingChromium(say) {
  const named = process.env.CHROMIUM;
  if (named) return missingPrograms({ [named]: `chromium ${FONT}` }, say);
  const [light, full] = PROGRAMS;
  const why = missingPrograms({ [light]: `${light} ${FONT}` }, say);
  return why === null ? null : missingPrograms({ [full]: `${full} ${FONT}` }, say);
}
