/** The languages of mail: those of the console. */
export const mailLanguages = ['en', 'zh'] as const;
export type MailLanguage = (typeof mailLanguages)[number];
