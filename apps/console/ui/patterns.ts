/** The server's rules for ids, names of models and groups, and amounts of money and credits. */
export const ID = /^[0-9a-z]{26}$/;
export const MODEL_NAME = /^(?=.{1,200}$)[A-Za-z0-9][A-Za-z0-9._:-]*(?:\/[A-Za-z0-9][A-Za-z0-9._:-]*)*$/;
export const GROUP_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
export const PAYMENT = /^\d{1,6}(\.\d{1,2})?$/;
export const CREDITS = /^\d{1,9}(\.\d{1,9})?$/;
export const SIGNED_CREDITS = /^-?(?=.*[1-9])\d{1,9}(\.\d{1,9})?$/;
/** The server does not look up shorter ids of requests, tasks or upstreams. */
export const SHORTEST_ID = 8;
