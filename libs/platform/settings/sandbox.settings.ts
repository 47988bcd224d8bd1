import { optionalSecret, optionalText, optionalUrl, port, seconds, text } from './setting.js';

export const sandbox = {
  SANDBOX_URL: optionalUrl(
    'Creates the sandbox channel. In standalone, an upstream in place of the built-in sandbox',
  ),
  SANDBOX_API_KEY: optionalSecret('The key of the sandbox'),
  SANDBOX_HOST: text('Address where the sandbox listens', '127.0.0.1'),
  SANDBOX_PORT: port('Port where the sandbox listens', 4010),
  SANDBOX_PUBLIC_URL: optionalText("What the sandbox's own links start with, if not what a request named"),
  SANDBOX_IMAGE_SECONDS: seconds('How long an image takes', 0.3),
  SANDBOX_VIDEO_SECONDS: seconds('How long a video takes', 6),
  SANDBOX_SLOW_SECONDS: seconds('How long its slow answers take', 10),
  SANDBOX_STATE_DIR: optionalText('Folder that keeps accepted tasks through a crash; otherwise in memory'),
};

export const testing = {
  BUS_CHAOS: optionalText('Repeats and reorders messages'),
  CRASH_AT: optionalText('Ends the program at a named point'),
  CRASH_FILE: optionalText('Once for each such file'),
};
