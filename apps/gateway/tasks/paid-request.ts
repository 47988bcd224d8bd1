import type { TaskRequest } from '#tasks/task.js';
import type { Hold } from '../charging/charge.service.js';

/**
 * What the vendor is asked for, as it was priced. A video is priced with sound unless it says otherwise, so the vendor is
 * asked for sound if the price depends on it; for a remix, nothing but the prompt can be asked for.
 */
export function paidRequest(request: TaskRequest, { ratedBy }: Pick<Hold, 'ratedBy'>): TaskRequest {
  const isOpen = request.audio === undefined && request.remix === undefined;
  return isOpen && ratedBy.includes('audio') ? { ...request, audio: true } : request;
}
