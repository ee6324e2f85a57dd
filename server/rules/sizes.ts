// The largest requests that the service and the mock read. The introduction of the contract tells callers the same numbers.

/** Request line (with the URL) and headers together. */
export const mostHeaderBytes = 64 * 1024;

export const longestToken = 8 * 1024;
