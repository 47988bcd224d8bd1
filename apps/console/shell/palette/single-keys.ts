import { useLocalStorage } from '@mantine/hooks';

/** Whether keys without Ctrl do something. People who dictate can switch them off: their words would press them. */
export function useSingleKeys() {
  return useLocalStorage({
    key: 'tollgate.single-keys',
    defaultValue: true,
    getInitialValueInEffect: false,
  });
}
