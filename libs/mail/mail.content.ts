/** The content of a mail in one language, from which its HTML and text are rendered. Values from people are plain text. */
export interface MailContent {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** Shown as a table, in this order. */
  readonly facts?: readonly MailFact[];
  readonly button?: MailLink;
  /** Small print below the button. */
  readonly notes?: readonly string[];
  /** A link for readers who do not need the button. */
  readonly otherwise?: MailLink;
}

export interface MailLink {
  readonly label: string;
  readonly url: string;
}

interface MailFact {
  readonly label: string;
  readonly value: string;
}
