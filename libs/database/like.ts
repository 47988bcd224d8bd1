/** The LIKE pattern for texts that start with this one, without wildcards. */
export function beginsWith(text: string): string {
  return `${text.replace(/[\\%_]/g, '\\$&')}%`;
}
