import { useTranslation } from 'react-i18next';
import { families } from '../../api/enumerations.js';

/** A type of models by its name, where the server has it as one of other words. */
export function FamilyName({ family }: { family: string }) {
  const { t } = useTranslation('charts');
  const known = families.find((each) => each === family);
  return <>{known ? t(`families.${known}`) : family}</>;
}
