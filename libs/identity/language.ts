/** The languages of mail and documents: those of the console. */
export const mailLanguages = ['en', 'zh'] as const;
export type MailLanguage = (typeof mailLanguages)[number];

/** What mail and documents in a language share. */
interface LanguageFacts {
  /** For `lang` attributes, PDF files and Intl. */
  readonly tag: string;
  /** Between a name and its value. */
  readonly colon: string;
  /** Of the issuer of a document. */
  readonly taxId: string;
  readonly customerTaxId: string;
}

export const languageFacts: Record<MailLanguage, LanguageFacts> = {
  en: { tag: 'en', colon: ': ', taxId: 'Tax ID', customerTaxId: 'Tax ID of the customer' },
  zh: { tag: 'zh-Hans', colon: '：', taxId: '税号', customerTaxId: '客户税号' },
};
