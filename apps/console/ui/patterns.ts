/** What the server takes for an id of an account or a charge, for the names of a model and a group, for an amount of payment currency, and for credits. */
export const ID = /^[0-9a-z]{26}$/;
export const MODEL_NAME = /^(?=.{1,200}$)[A-Za-z0-9][A-Za-z0-9._:-]*(?:\/[A-Za-z0-9][A-Za-z0-9._:-]*)*$/;
export const GROUP_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
export const PAYMENT = /^\d{1,6}(\.\d{1,2})?$/;
export const CREDITS = /^\d{1,9}(\.\d{1,9})?$/;
export const SIGNED_CREDITS = /^-?(?=.*[1-9])\d{1,9}(\.\d{1,9})?$/;
/** Shorter text is looked up as no id of a request, a task or of the upstream. */
export const SHORTEST_ID = 8;
