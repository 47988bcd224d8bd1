/** The parties that log in to the database. Each program has only the password of its own role. */
export const databaseRoles = ['owner', 'gateway', 'worker', 'billing'] as const;

export type DatabaseRole = (typeof databaseRoles)[number];

/** Also a superuser, who creates the roles and the database. No program logs in as one. */
export type Login = DatabaseRole | 'admin';

/** The name of the database everywhere: embedded, in Compose and in tests. */
export const databaseName = 'tollgate';

/** The PostgreSQL role of a party: `tollgate_gateway` and so on. */
export function roleName(role: Login): string {
  return `tollgate_${role}`;
}

export interface Address {
  /** A host name, or the absolute folder of a Unix socket. */
  host: string;
  port: number;
  database: string;
}

/**
 * A connection URL for `pg` and PostgreSQL's own tools. A socket folder is percent-encoded in place of the host. It
 * contains the password: never log it.
 */
export function connectionUrl(address: Address, role: Login, password: string): string {
  const host = encodeURIComponent(address.host);
  return `postgresql://${roleName(role)}:${encodeURIComponent(password)}@${host}:${address.port}/${address.database}`;
}

/** The same server and login with another database's name. */
export function databaseUrlOf(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.toString();
}

/** The same server and database as another role. */
export function withRole(url: string, role: Login, password: string): string {
  const changed = new URL(url);
  changed.username = roleName(role);
  changed.password = encodeURIComponent(password);
  return changed.toString();
}
