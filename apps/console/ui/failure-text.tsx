import { useTranslation } from 'react-i18next';
import { type ApiFailure } from '../api/failure.js';
import { useIsViewing } from '../shell/session.js';
import { type FailureText, wordsOfFailure } from './failure-words.js';

/** Fields that ask for the password of the signed-in user. */
const PASSWORD_FIELDS: readonly (string | null)[] = ['password', 'currentPassword'];

export function useFailureText(): (failure: ApiFailure) => FailureText {
  const { t } = useTranslation('shell');
  const isViewing = useIsViewing();
  return (failure) => wordsOfFailure(failure, { t, isViewing });
}

export function FailureLine({ text, details }: FailureText) {
  if (details === null) return text;
  return (
    <>
      {text} <span lang="en">{details}</span>
    </>
  );
}

/** The text of a failure at its field. English pages show the server's message. */
export function useFieldText(): (failure: ApiFailure) => FailureText {
  const { t, i18n } = useTranslation('shell');
  return ({ code, param, message }) => {
    if (code === 'forbidden' && PASSWORD_FIELDS.includes(param))
      return { text: t('failure.fields.password'), details: null };
    if (code === 'sign_in_failed' || (code === 'forbidden' && param === 'code'))
      return { text: t('failure.fields.code'), details: null };
    if (code === 'missing_required_parameter') return { text: t('failure.fields.missing'), details: null };
    const sentence = withoutName(message);
    if (i18n.language === 'en') return { text: sentence, details: null };
    return { text: t('failure.fields.invalid'), details: sentence };
  };
}

/** The server's messages begin with the field name, which the label already shows. */
function withoutName(message: string): string {
  const sentence = message.replace(/^[\w.[\]]+: /, '');
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
