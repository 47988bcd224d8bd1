import { allOf } from '../../api/all-of.js';
import { api } from '../../api/client.js';

/**
 * The whole price list is short enough to search and sort in the browser. It is asked for anew, by its ETag: the browser's own
 * copy may be from before a change.
 */
export const marketQuery = {
  queryKey: ['market'],
  queryFn: () =>
    allOf(async (query) => {
      return (await api.GET('/api/public/prices', { params: { query }, cache: 'no-cache' })).data!;
    }),
};
