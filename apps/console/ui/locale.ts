import { useTranslation } from 'react-i18next';
import { type Language, languageTags } from '../i18n/i18n.js';

/** The current language as a tag for Intl. */
export function useLocale(): string {
  return languageTags[useTranslation().i18n.language as Language] ?? 'en';
}

/** Writes a share such as 0.125 as "12.5%". */
export function usePercent(): (share: number) => string {
  const format = new Intl.NumberFormat(useLocale(), { style: 'percent', maximumFractionDigits: 1 });
  return (share) => format.format(share);
}

/** Adds the space between numbers and Chinese units that Intl leaves out. */
export function spaced(text: string): string {
  return text.replace(/(\d)(?=\p{Script=Han})/gu, '$1 ');
}
