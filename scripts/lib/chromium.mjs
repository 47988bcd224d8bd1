// The browser that the pages of the console are tested in: the system's, else its package.
import { missingPrograms } from './system-packages.mjs';

/** A browser that is called otherwise is named by CHROMIUM. The font has the Chinese characters of the images. */
const chromium = process.env.CHROMIUM || 'chromium';

/** @returns why there is no browser, or null when there is */
export function missingChromium(say) {
  return missingPrograms({ [chromium]: 'chromium fonts-droid-fallback' }, say);
}
