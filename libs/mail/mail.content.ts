/** What one mail says, in one language. Its HTML and its text follow from it; values of people are plain text here. */
export interface MailContent {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** Shown as a table, in this order. */
  readonly facts?: readonly MailFact[];
  readonly button?: MailLink;
  /** In small print, below the button. */
  readonly notes?: readonly string[];
  /** Where to go if the button is not what its reader needs. */
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
