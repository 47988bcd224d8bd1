// The third-party S3-compatible server that tests start.
import { fetchJars } from './maven.mjs';

/** @returns {{ java: string, jars: string } | { why: string }} where it is, or why it is missing */
export function fetchS3Server(say) {
  return fetchJars({ name: 's3', about: 'S3Proxy', say });
}
