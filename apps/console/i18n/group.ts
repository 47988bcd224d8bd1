/** Reads all texts below a key, such as those of a dialog: `t('order.cancel', GROUP)`. */
export const GROUP = { returnObjects: true } as const;
