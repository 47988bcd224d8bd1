/** The group whose keys may use video and vendor image models. */
export const VENDORA_MAIN = 'Vendora-Main';
/** The semi-public group with a fixed price for each call. */
export const PUBLIC_RELAY = 'Public-Relay';

/** The vendor whose images, like all videos, are for Vendora-Main alone. */
export const VENDORA = 'vendora';
