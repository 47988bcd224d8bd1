import type { ErrorCode } from '../errors.js';

/** The meaning of each error and what to do about it, for `docs/errors.md`. */
export const errorHelp: Readonly<Record<ErrorCode, string>> = {
  invalid_api_key:
    'The key is missing, wrong, expired or deleted. Send `Authorization: Bearer sk-tg-…` with a key from the console.',
  model_not_found: 'Your key can use no model of this name. `GET /v1/models` lists those it can use.',
  insufficient_user_quota:
    'Your balance does not cover the hold for this call. Add credits, or request less. Nothing was sent upstream.',
  key_limit_exceeded: 'The key has reached its spend limit. Raise it in the console, or use another key.',
  account_limit_exceeded:
    'The account has reached a limit, which the message names. Ask support to raise it.',
  ip_not_allowed: 'The key cannot be used from this IP address. Change its allowed addresses in the console.',
  account_frozen:
    'The account is frozen. The owner can see the reason in the console. Contact support to unfreeze it.',
  account_closing: 'The account is being deleted and accepts no new calls.',
  model_not_allowed:
    'The key or its group does not include this model. Use another key, or change its allowed models.',
  group_not_granted: 'The account has no access to this key’s group. Ask support for access.',
  invalid_type:
    'A field has the wrong type. `param` names the field, and the message says which type it takes.',
  invalid_value:
    'A field has an invalid value. `param` names the field, and the message says what is allowed.',
  unknown_parameter:
    'The field is not supported here. Remove it. Tollgate never ignores fields, because they could change the price.',
  invalid_json:
    'The body is not valid JSON. Check quotes and commas, and send `Content-Type: application/json`.',
  invalid_multipart:
    'The form could not be read. Let your client set the boundary, and check the size of each part.',
  invalid_request: 'The request could not be read. The message says what is wrong.',
  idempotency_key_reused:
    'This `Idempotency-Key` belongs to a different request. Use a new key for a new request.',
  idempotency_outcome_unknown:
    'An earlier request with this `Idempotency-Key` ended without a stored answer. Check Logs in the console before you send it again with a new key.',
  missing_required_parameter: 'A required field is missing. `param` names it.',
  model_not_supported_here:
    'The model exists, but not at this endpoint. The message names the endpoint to use.',
  content_policy_violation:
    'The vendor refused the content. Change the prompt or the image. Nothing was charged.',
  upstream_rejected:
    'The vendor refused the request for the reason in the message. Change the request. Nothing was charged.',
  video_not_ready: 'The video is not finished. Poll `GET /v1/videos/{id}` until its status is `completed`.',
  video_failed: 'The video failed and was refunded. There is no file. The task shows the reason.',
  video_not_remixable:
    'The vendor that made the video does not support remixes, no longer has the video, or is no longer available here. Create a new video. Nothing was charged.',
  unsupported_media_type:
    'The endpoint does not accept this `Content-Type`. Send JSON, or a form if the endpoint accepts one.',
  image_input_not_supported:
    'The model does not accept images as input. Remove the image, or choose another model.',
  video_not_found: 'Your account has no video with this id. Use the `id` returned when you created it.',
  video_expired:
    'The file has expired and was deleted. Create the video again, and download it as soon as it is completed.',
  video_deleted: 'The video was deleted by your account.',
  invalid_image:
    'The image could not be decoded, or is too large. Send a PNG, JPEG or WebP within the model’s limits, with at most 50 million pixels; a PNG with 16 bits per channel with at most 25 million.',
  image_must_be_base64: 'This endpoint takes images as base64 or as a data URL, not as a web address.',
  webhook_not_supported:
    'Requests to this endpoint cannot name a webhook. Poll the task, or add an endpoint on the console page Alerts and webhooks.',
  draft_required: 'A texture needs a finished draft. Send its id as `draft_id`.',
  not_a_draft: '`draft_id` names an asset that is not a draft. Send the id of a draft.',
  draft_not_finished: 'The draft is still in progress. Wait until its status is `completed`.',
  draft_failed: 'The draft failed, so there is nothing to texture. Make a new draft.',
  draft_not_found:
    'Your account has no draft with this id, or its model is no longer available. Make a new draft.',
  asset_not_ready: 'The 3D asset is not finished. Poll `GET /v1/3d/{id}` until its status is `completed`.',
  asset_failed: 'The 3D asset failed and was refunded. There is no file.',
  asset_not_found: 'Your account has no 3D asset with this id.',
  asset_expired: 'The file has expired and was deleted. Create the asset again.',
  file_not_found: 'The link is wrong or has expired. Use a current link to the file.',
  unknown_url:
    'There is no such path. The message suggests the right base URL: OpenAI clients need `/v1` at the end, Anthropic clients must not have it.',
  unknown_host: 'The host name is not allowed. Check the base URL. Operators add hosts with `ALLOWED_HOSTS`.',
  method_not_allowed:
    'The path exists, but does not support this method. The message lists the methods it supports.',
  upload_too_slow: 'The request body arrived too slowly. Send it again over a faster connection.',
  request_too_large: 'The body is too large for this endpoint. Send less, or smaller images.',
  range_not_satisfiable: 'The `Range` is outside the file. Request the file without it.',
  rate_limit_exceeded:
    'Too many requests, or too many at the same time. Wait for `Retry-After` seconds. SDKs do this automatically.',
  not_signed_in: 'You are not signed in, or your session has ended. Sign in again.',
  sign_in_failed: 'The email address, password or code is wrong.',
  totp_required: 'The account uses two-factor authentication. Send the code as well.',
  forbidden: 'Your account does not have the role for this. Ask an administrator for it.',
  second_factor_required: 'Staff need two-factor authentication. Turn it on under Account.',
  confirmation_required:
    'This action is sensitive. Confirm your password or code, then send the request again.',
  csrf_rejected: 'The header `x-csrf-token` is missing or wrong. Send the `csrfToken` of the session.',
  not_found: 'It does not exist, was deleted, or belongs to someone else.',
  conflict: 'The current state does not allow this. Reload and try again: someone else may have changed it.',
  second_person_required:
    'A second person has to approve this. The message says how. What was requested is on the console page Approvals.',
  too_many_attempts:
    'Too many attempts from this address or for this account, or a [daily limit](rate-limits.md#daily-limits) is reached. The message says which. Wait for `Retry-After` seconds.',
  payment_provider_failed: 'The payment provider failed. Try again. No credits were added twice.',
  service_unavailable:
    'No upstream is available, or part of the service is down. Try again after `Retry-After` seconds. Nothing was charged.',
  generation_failed:
    'The vendor failed or did not answer. The hold is refunded. The message says if something was delivered and charged.',
  internal_error: 'Something broke on our side. Contact support with the `x-request-id` of the answer.',
};
