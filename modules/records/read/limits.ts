/*
 * The limits of reads: how much one call may ask for, and from what amount on a read runs in a worker thread, where it
 * does not keep other requests waiting.
 */

/** Most records of one page for the grid. REST has its own, lower limit. */
export const MAX_PAGE = 1000

/** From this offset on, the page's ids are found first, in the order's index, and its columns read after. */
export const DEEP_OFFSET = 500

/** From so many records on, a read whose work grows with the table runs in a worker thread. */
export const SCAN_FROM = 5_000

/**
 * Where a linked table has this many records, a single cell may read all of them: such cells are work for a worker,
 * however few are asked for.
 */
export const LINKED_FROM = 20_000

/** More linked tables than this are not counted: their cells are taken for much work. */
export const MAX_COUNTED_TABLES = 50

/** From so many computed cells on, a page is read in a worker thread: about two milliseconds of work. */
export const MANY_CELLS = 2_000
