/** The origin of a person's request, for the list of sessions. */
export interface Origin {
  ip: string;
  userAgent: string | null;
}
