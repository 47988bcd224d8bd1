import { userInfo } from 'node:os';

/** As the audit log names who uses this tool. */
export function operatorName(): string {
  return `cli:${userInfo().username}`;
}
