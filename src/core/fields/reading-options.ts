import type { FieldOptions } from './field-type.ts'

/** How values are read, beside a field's own options. It follows from the column and is never stored. */
export type ReadingOptions = {
  /**
   * True for columns of connected databases, which may hold any fraction of a second. Tables of our own keep instants
   * to the millisecond and times of day to the second.
   */
  keepsFraction?: boolean | undefined
}

/** A field's options as `read` and `parse` of its type take them. A field of unknown column counts as one of our own. */
export const readingOptions = <O extends FieldOptions>(
  { databaseType = null }: { databaseType?: string | null },
  options: O,
): O & ReadingOptions => (databaseType === null ? options : { ...options, keepsFraction: true })
