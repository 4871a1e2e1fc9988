/** Start of the names of indexes that Sheaf creates for reads, apart from those of keys and unique fields. */
export const NAME_PREFIX = 'sheaf_auto_'

/** True for the name of such an index. */
export const isAutomaticIndex = (name: string): boolean => name.startsWith(NAME_PREFIX)

/** Start of the names of search indexes in databases. */
export const SEARCH_PREFIX = 'sheaf_search_'

/** Start of the names of tables that exist while an index is built in steps. The name of the index follows. */
export const UNFINISHED_PREFIX = 'sheaf_unfinished_'

/** True for the name of such a table. */
export const isUnfinishedTable = (name: string): boolean => name.startsWith(UNFINISHED_PREFIX)

export const unfinishedTable = (index: string): string => `${UNFINISHED_PREFIX}${index}`
