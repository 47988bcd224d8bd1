import { ApiError } from '#platform/errors.js';

/** No enabled channel of an existing model offers this call. Another model may serve it. */
export class ModelWithoutChannel extends ApiError {}

/** No channel of the model currently accepts work, and none has accepted this request. Another model may serve it. */
export class ModelBusy extends ApiError {
  /** The same for the client, but no reason to try another model. */
  asFinal(): ApiError {
    return new ApiError(this.code, this.message, this);
  }
}
