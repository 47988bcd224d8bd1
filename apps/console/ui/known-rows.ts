/** Rows that are there already, as a list takes them: nothing of them is read or fails. */
export function knownRows<Row>(items: readonly Row[]) {
  return {
    data: { items },
    error: null,
    refetch: () => Promise.resolve() as never,
    isPlaceholderData: false,
  };
}
