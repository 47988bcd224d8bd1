/** Roles of people. Everyone is a user, staff have more. */
export const roles = ['user', 'support', 'finance', 'admin'] as const;
export type Role = (typeof roles)[number];
export const rolesOfStaff: readonly Role[] = ['support', 'finance', 'admin'];

/** The actor in the console, from the session. */
export interface Actor {
  readonly userId: string;
  readonly sessionId: string;
  /** The customer account of this person. */
  readonly accountId: string;
  readonly email: string;
  readonly roles: readonly Role[];
}
