/** Tests ask the console more in a minute than people do. */
export const UNTHROTTLED = {
  CONSOLE_READS_PER_MINUTE: '1000000',
  CONSOLE_WRITES_PER_MINUTE: '1000000',
  CONSOLE_ANONYMOUS_PER_MINUTE: '1000000',
};
