/** What the server takes for an id of an account or a charge, for an amount of payment currency, and for credits. */
export const ID = /^[0-9a-z]{26}$/;
export const PAYMENT = /^\d{1,6}(\.\d{1,2})?$/;
export const CREDITS = /^\d{1,9}(\.\d{1,9})?$/;
export const SIGNED_CREDITS = /^-?(?=.*[1-9])\d{1,9}(\.\d{1,9})?$/;
/** Shorter text is looked up as no id of a request, a task or of the upstream. */
export const SHORTEST_ID = 8;
