/** What one mail says, in one language. Its HTML and its text follow from it; values of people are plain text here. */
export interface MailContent {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** Shown as a table, in this order. */
  readonly facts?: readonly MailFact[];
  readonly button?: { readonly label: string; readonly url: string };
  /** In small print, below the button. */
  readonly notes?: readonly string[];
}

interface MailFact {
  readonly label: string;
  readonly value: string;
}
