/** Limit of records that one call copies or moves; more are a job. */
export const MAX_COPIED_RECORDS = 1_000
/** Limit of records that one job copies or moves. */
export const MAX_COPIED_IN_JOB = 100_000

/** A field of the source or target table of a copy of records. */
export interface CopyField {
  id: string
  title: string
  /** Files can only be copied to fields of files. */
  holdsFiles: boolean
}

/** A field of the target table, with the field of the source that fills it. */
export interface CopyTarget extends CopyField {
  required: boolean
  /** Null: the field is not filled and gets its default. */
  sourceId: string | null
}

/** Values that a field of the target table does not accept; the copies have none there. */
export interface RefusedValues {
  fieldId: string
  title: string
  count: number
  /** The first few different ones, with the reason. */
  examples: { value: string; reason: string }[]
}

/** What copying records to another table would do. */
export interface RecordCopyPreview {
  /** The fields that can be filled. */
  targets: CopyTarget[]
  /** The fields that can fill them. */
  sources: CopyField[]
  /** Titles of the fields of the source that people fill and that are not copied. */
  left: string[]
  refused: RefusedValues[]
  /** Required fields, and how many records would have no value for them. While there are any, nothing can be copied. */
  missing: { title: string; count: number }[]
}

/** The result of copying or moving records. */
export interface RecordCopy {
  /** The new records, in the order of the originals. */
  ids: (number | string)[]
  refused: RefusedValues[]
  /** Number of originals that were moved to the trash. */
  deleted: number
  /** Originals that a move left in place, and why; null if there are none. */
  kept: { count: number; reason: string } | null
}

/** The result of a job that copies or moves records. */
export interface RecordsCopied extends Omit<RecordCopy, 'ids'> {
  /** Of the target. */
  tableId: string
  /** Number of new records. */
  copied: number
  /** Number of records that the job has not come to, because it was cancelled. */
  left: number
}
