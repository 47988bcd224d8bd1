/** Containers cannot be run here; the message says why. */
export class NoEngine extends Error {}
