/**
 * True for calls that are sent in a request of their own: their answers may have megabytes, and the answers of a batch are
 * kept in memory until the last one has come. The people of a base are read together with its tables.
 */
export const goesAlone = (path: string): boolean =>
  (path.startsWith('records.') && path !== 'records.people') || path.startsWith('jobs.')
