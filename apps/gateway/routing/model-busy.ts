import { ApiError } from '#platform/errors.js';

/** No channel of a model takes work at the moment, and none has taken any of this request: another model may. */
export class ModelBusy extends ApiError {}
