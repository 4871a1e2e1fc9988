/** Start of the names of indexes that Sheaf creates for reads, apart from those of keys and unique fields. */
export const NAME_PREFIX = 'sheaf_auto_'

/** True for the name of such an index. */
export const isAutomaticIndex = (name: string): boolean => name.startsWith(NAME_PREFIX)

/** Start of the names of search indexes in databases. */
export const SEARCH_PREFIX = 'sheaf_search_'
