import { ApiError } from '#platform/errors.js';

/** No channel of a model that is there offers this call, or is switched on: another model may serve it. */
export class ModelWithoutChannel extends ApiError {}

/** No channel of a model takes work at the moment, and none has taken any of this request: another model may. */
export class ModelBusy extends ApiError {
  /** The same for the client, and no reason to ask another model. */
  asFinal(): ApiError {
    return new ApiError(this.code, this.message, this);
  }
}
