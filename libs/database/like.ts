/** The pattern for LIKE that finds what begins with a text, taken as it is. */
export function beginsWith(text: string): string {
  return `${text.replace(/[\\%_]/g, '\\$&')}%`;
}
