-- Notices were queued as sentences, and are now queued as what happened, so that they can be written in two languages. Those
-- that still wait are put into that form; a deletion has a mail of its own.
UPDATE mail_outbox SET template = 'account_deletion', details = jsonb_build_object('dueAt',
    to_char(to_timestamp(substring(details ->> 'what' FROM 'deleted after (\d{4}-\d\d-\d\d \d\d:\d\d) UTC'), 'YYYY-MM-DD HH24:MI'),
      'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  WHERE template = 'security_notice' AND ended_at IS NULL AND details ->> 'what' LIKE 'Your account will be deleted after %';

UPDATE mail_outbox SET details = jsonb_build_object('notice', notice)
  FROM (VALUES
    ('The password of your account was changed%', 'password.changed'),
    ('One-time codes were switched on%', 'totp.enabled'),
    ('New recovery codes were made%', 'totp.codes_renewed'),
    ('One-time codes were switched off%', 'totp.disabled')) AS known (sentence, notice)
  WHERE template = 'security_notice' AND ended_at IS NULL AND details ->> 'what' LIKE sentence;
