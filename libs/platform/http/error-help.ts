import type { ErrorCode } from '../errors.js';

/** What each refusal means and what to do about it, for `docs/errors.md`. */
export const errorHelp: Readonly<Record<ErrorCode, string>> = {
  invalid_api_key:
    'The key is missing, wrong, expired or deleted. Send `Authorization: Bearer sk-tg-…` with a key from the console.',
  model_not_found: 'There is no model of this name. `GET /v1/models` lists those that your key can use.',
  insufficient_user_quota:
    'The balance does not cover the hold of this call. Add credits, or ask for less work. Nothing was sent upstream.',
  key_limit_exceeded: 'The spend limit of this key is reached. Raise it in the console, or use another key.',
  account_limit_exceeded: 'A limit of the account is reached. The message names it. Ask support to raise it.',
  ip_not_allowed: 'The key may not be used from this address. Change its list of addresses in the console.',
  account_frozen: 'The account is frozen. Its owner finds the reason in the console. Support can lift it.',
  account_closing: 'The account is being deleted, so it makes no new calls.',
  model_not_allowed:
    'The key, or its group, does not include this model. Use another key, or change its list of models.',
  group_not_granted: 'The account may not use the group of this key. Ask support for access.',
  invalid_type: 'A field has the wrong type. `param` names the field, the message says what it takes.',
  invalid_value:
    'A field has a value that is not allowed. `param` names the field, the message says what is allowed.',
  unknown_parameter:
    'The field is not supported here. Remove it. Fields are never ignored, since they could change the price.',
  invalid_json:
    'The body is not valid JSON. Check quotes and commas, and send `Content-Type: application/json`.',
  invalid_multipart:
    'The form could not be read. Let your client write its boundary, and check the sizes of its parts.',
  invalid_request: 'The request could not be read as a whole. The message says what was wrong.',
  idempotency_key_reused:
    'This `Idempotency-Key` belongs to a different request. Use a new key for a new request.',
  idempotency_outcome_unknown:
    'An earlier request under this `Idempotency-Key` ended without a stored answer. Check the usage log before you send it under a new key.',
  missing_required_parameter: 'A required field is missing. `param` names it.',
  model_not_supported_here:
    'The model exists, but not at this endpoint. The message names the endpoint to use.',
  content_policy_violation:
    'The vendor refused the content. Change the prompt or the image. Nothing was charged.',
  upstream_rejected:
    'The vendor refused the request. The message has its reason. Change the request. Nothing was charged.',
  video_not_ready: 'The video is not finished. Poll `GET /v1/videos/{id}` until its status is `completed`.',
  video_failed: 'The video failed and was refunded. There is no file. The task has the reason.',
  video_not_remixable:
    'The vendor that made the video does not remix, no longer has it, or is no longer offered here. Create a new video. Nothing was charged.',
  unsupported_media_type:
    'The endpoint does not take this `Content-Type`. Send JSON, or a form where the endpoint takes one.',
  image_input_not_supported:
    'The model takes no image as input. Leave the image out, or choose another model.',
  video_not_found: 'Your account has no video with this id. Use the `id` of the answer that created it.',
  video_expired:
    'The file was deleted when its time was over. Create the video again, and download it as soon as it is completed.',
  video_deleted: 'The video was deleted by your account.',
  invalid_image:
    'The image could not be decoded, or is too large. Send a PNG, JPEG or WebP within the limits of the model.',
  image_must_be_base64: 'Images come as base64 or as a data URL here, not as a web address.',
  webhook_not_supported:
    'This endpoint has no webhook in the request. Poll the task, or add an endpoint on the console page Webhooks.',
  draft_required: 'A texture needs a finished draft. Send its id as `draft_id`.',
  not_a_draft: '`draft_id` names an asset that is not a draft. Send the id of a draft.',
  draft_not_finished: 'The draft is still in progress. Wait until its status is `completed`.',
  draft_failed: 'The draft failed, so there is nothing to texture. Make a new draft.',
  draft_not_found:
    'Your account has no draft with this id, or what made it is no longer offered. Make a new draft.',
  asset_not_ready: 'The 3D asset is not finished. Poll `GET /v1/3d/{id}` until its status is `completed`.',
  asset_failed: 'The 3D asset failed and was refunded. There is no file.',
  asset_not_found: 'Your account has no 3D asset with this id.',
  asset_expired: 'The file was deleted when its time was over. Create the asset again.',
  file_not_found: 'The link is wrong or has expired. Take a fresh link from the answer that made the file.',
  unknown_url:
    'There is no such path. The message says which base URL would have worked: OpenAI clients need `/v1` at its end, Anthropic clients must not have it.',
  unknown_host:
    'The service is not known under this host. Check the base URL. Operators add hosts with `ALLOWED_HOSTS`.',
  method_not_allowed: 'The path exists, but does not take this method. The message lists those it takes.',
  upload_too_slow:
    'The body arrived too slowly, and the request was stopped. Send it again over a better connection.',
  request_too_large: 'The body is larger than this endpoint takes. Send less, or smaller images.',
  range_not_satisfiable: 'The `Range` lies outside of the file. Ask for the file without it.',
  rate_limit_exceeded:
    'Too many requests, or too many at the same time. Wait for `Retry-After` seconds. SDKs do so themselves.',
  not_signed_in: 'There is no session, or it has ended. Sign in again.',
  sign_in_failed: 'The email address, password or code is wrong.',
  totp_required: 'The account has two-factor authentication. Send the code as well.',
  forbidden: 'Your account does not have the role for this. An administrator grants roles.',
  second_factor_required: 'Staff need two-factor authentication. Switch it on under Account.',
  confirmation_required: 'This is sensitive. Confirm your password or code first, then send it again.',
  csrf_rejected: 'The header `x-csrf-token` is missing or wrong. Send the `csrfToken` of the session.',
  not_found: 'It does not exist, was deleted, or belongs to someone else.',
  conflict: 'The current state does not allow this. Read it again; someone may have been faster.',
  second_person_required: 'A second person has to agree. The request waits on the console page Approvals.',
  too_many_attempts:
    'Too many attempts from this address or for this account. Wait for `Retry-After` seconds.',
  payment_provider_failed:
    'The payment provider did not answer as it should. Try again. No credits were added twice.',
  service_unavailable:
    'No upstream is free, or a part of the service is down. Try again after `Retry-After` seconds. Nothing was charged.',
  generation_failed:
    'The vendor failed or did not answer. What was held is refunded. The message says if a part was delivered and charged.',
  internal_error: 'A fault on our side. Quote the `x-request-id` of the answer to support.',
};
