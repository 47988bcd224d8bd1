import { userInfo } from 'node:os';

/** The user of this tool, as the audit log names them. */
export function operatorName(): string {
  return `cli:${userInfo().username}`;
}
