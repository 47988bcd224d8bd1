// The S3-compatible server of others that tests start.
import { fetchJars } from './maven.mjs';

/** @returns {{ java: string, jars: string } | { why: string }} where it is, or why it is not there */
export function fetchS3Server(say) {
  return fetchJars({ name: 's3', about: 'S3Proxy', say });
}
