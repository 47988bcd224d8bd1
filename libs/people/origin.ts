/** Where a request of a person comes from, for the list of sessions. */
export interface Origin {
  ip: string;
  userAgent: string | null;
}
