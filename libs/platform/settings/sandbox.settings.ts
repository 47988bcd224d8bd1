import { optionalSecret, optionalText, optionalUrl, port, seconds, text } from './setting.js';

export const sandbox = {
  SANDBOX_URL: optionalUrl('Creates the sandbox channel. In standalone, it replaces the built-in sandbox'),
  SANDBOX_API_KEY: optionalSecret('The key of the sandbox'),
  SANDBOX_HOST: text('Address where the sandbox listens', '127.0.0.1'),
  SANDBOX_PORT: port('Port where the sandbox listens', 4010),
  SANDBOX_PUBLIC_URL: optionalText("Start of the sandbox's own links. By default, the host of the request"),
  SANDBOX_IMAGE_SECONDS: seconds('How long an image takes', 0.3),
  SANDBOX_VIDEO_SECONDS: seconds('How long a video takes', 6),
  SANDBOX_SLOW_SECONDS: seconds('How long slow answers take', 10),
  SANDBOX_STATE_DIR: optionalText(
    'Folder for accepted tasks, so that they survive a crash; otherwise they are in memory',
  ),
};

export const testing = {
  BUS_CHAOS: optionalText('Repeat and reorder messages'),
  CRASH_AT: optionalText('Kills the program at a named point'),
  CRASH_FILE: optionalText('Kills it only once for this file'),
};
