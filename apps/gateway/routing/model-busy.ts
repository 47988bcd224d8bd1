import { ApiError } from '#platform/errors.js';

/** No vendor offers this call for a model that is there: another model may. */
export class ModelWithoutChannel extends ApiError {}

/** No channel of a model takes work at the moment, and none has taken any of this request: another model may. */
export class ModelBusy extends ApiError {
  /** The same for the client, and no reason to ask another model. */
  asFinal(): ApiError {
    return new ApiError(this.code, this.message, this);
  }
}
