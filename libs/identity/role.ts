/** What a person may be; everybody is a user, staff is more. */
export const roles = ['user', 'support', 'finance', 'admin'] as const;
export type Role = (typeof roles)[number];

/** Who acts through the console, as the session says. */
export interface Actor {
  readonly userId: string;
  readonly sessionId: string;
  /** The customer account of this person. */
  readonly accountId: string;
  readonly email: string;
  readonly roles: readonly Role[];
}
