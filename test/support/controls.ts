import type { Person } from './console.js';
import { until } from './eventually.js';

/** Runs these controls, or all. Asks again if refused, which happens while a scheduled round runs. */
export function runControls({ api }: Person, controls?: string[]) {
  return until('the controls to run', async () => {
    const body = controls ? { controls } : {};
    const { data, error } = await api.POST('/api/finance/controls/run', { body });
    if (error && error.error.code !== 'conflict') throw new Error(JSON.stringify(error));
    return data?.controls;
  });
}
