import i18next, { type BackendModule, type CustomTypeOptions } from 'i18next';
import { initReactI18next } from 'react-i18next';

export const languages = ['en', 'zh'] as const;
export type Language = (typeof languages)[number];

/** What each language calls itself. */
export const languageNames: Record<Language, string> = { en: 'English', zh: '简体中文' };

/** For the `lang` attribute and for Intl. */
export const languageTags: Record<Language, string> = { en: 'en', zh: 'zh-Hans' };

/** Each area of pages has a file of texts, loaded with its first page. */
export type Namespace = keyof CustomTypeOptions['resources'];

const STORED_AS = 'tollgate.language';
/** Tells the server the language of the landing page. */
const COOKIE = 'tollgate_language';
const YEAR_SECONDS = 31_536_000;
const files = import.meta.glob<{ default: Record<string, unknown> }>('./*/*.json');

const filesOfTexts: BackendModule = {
  type: 'backend',
  init: () => undefined,
  read(language, namespace, done) {
    const load = files[`./${language}/${namespace}.json`];
    if (!load) {
      done(new Error(`There are no texts ${namespace} in ${language}.`), false);
      return;
    }
    load().then(
      ({ default: texts }) => done(null, texts),
      (error: Error) => done(error, false),
    );
  },
};

function chosenLanguage(): Language | undefined {
  const stored = localStorage.getItem(STORED_AS);
  return languages.find((each) => stored?.startsWith(each));
}

/** The chosen language, or the browser's first that we have. */
function preferredLanguage(): Language {
  const ofBrowser = navigator.languages.map((tag) => languages.find((each) => tag.startsWith(each)));
  return chosenLanguage() ?? ofBrowser.find(Boolean) ?? 'en';
}

function writeCookie(language: Language): void {
  document.cookie = `${COOKIE}=${language}; path=/; max-age=${YEAR_SECONDS}; samesite=lax`;
}

export async function startTexts(): Promise<void> {
  const chosen = chosenLanguage();
  // The choice does not expire, but the cookie does after a year.
  if (chosen && !document.cookie.includes(`${COOKIE}=`)) writeCookie(chosen);
  i18next.on('languageChanged', (language) => {
    document.documentElement.lang = languageTags[language as Language];
  });
  addEventListener('storage', followOtherTab);
  await i18next
    .use(filesOfTexts)
    .use(initReactI18next)
    .init({
      lng: preferredLanguage(),
      supportedLngs: languages,
      fallbackLng: false,
      ns: ['shell'],
      defaultNS: 'shell',
      // React escapes texts.
      interpolation: { escapeValue: false },
      // All texts below a key, such as those of a dialog, can be read together: `t('order.cancel')`.
      returnObjects: true,
      returnEmptyString: false,
      saveMissing: true,
      missingKeyHandler: reportMissing,
      react: { useSuspense: true },
    });
}

/** The other tabs of a browser change along with the one in which a language was chosen, as with the theme. */
function followOtherTab({ key }: StorageEvent): void {
  const language = chosenLanguage();
  if (key === STORED_AS && language) void i18next.changeLanguage(language);
}

/** Tests fail on this error; people see the key. */
function reportMissing(_languages: readonly string[], namespace: string, key: string): void {
  console.error(`The text ${namespace}:${key} is missing.`);
}

/** Loads the texts of an area before its pages are shown. */
export function loadTexts(namespaces: readonly Namespace[]): Promise<void> {
  return i18next.loadNamespaces(namespaces);
}

export async function setLanguage(language: Language): Promise<void> {
  localStorage.setItem(STORED_AS, language);
  writeCookie(language);
  await i18next.changeLanguage(language);
}
