import { Drawer, type DrawerProps, Modal, type ModalProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useClose } from '../address.js';

/** The library's window over a page, with a name for the button that closes it. Use it for every one that can be closed. */
export function Dialog(props: ModalProps) {
  const { t } = useTranslation('shell');
  return <Modal closeButtonProps={{ 'aria-label': t('close') }} {...props} />;
}

interface SidePanelProps extends Omit<DrawerProps, 'onClose'> {
  /** What has it open in the address, and is gone from there when it is closed. */
  param: string;
}

/** What is opened beside a list, such as the details of a row. */
export function SidePanel({ param, ...drawer }: SidePanelProps) {
  const { t } = useTranslation('shell');
  const close = useClose(param);
  const button = { 'aria-label': t('close') };
  return <Drawer position="right" size="lg" closeButtonProps={button} {...drawer} onClose={close} />;
}
