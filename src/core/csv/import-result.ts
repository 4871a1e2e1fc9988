/** A value of an imported file that the table lacks or holds differently. */
export interface ImportProblem {
  /** Number of the record in the file, from 1, with the header. */
  row: number
  /** Title of the field; '' if the whole row is affected. */
  column: string
  value: string
  reason: string
}

/** Result of a successful import job. */
export interface ImportResult {
  tableId: string
  title: string
  isNewTable: boolean
  fileName: string
  /** Rows added to the table. */
  rows: number
  /** Rows skipped entirely. */
  rowsRefused: number
  /** Cells left empty because their value did not fit, and cells beyond the last column. */
  cellsRefused: number
  /** Number of lines of the downloadable report; 0 without a report. */
  problems: number
  /** The first problems, shown without downloading the report. */
  samples: ImportProblem[]
  encoding: string
  seconds: number
  /** Id of the log entry of the import; null for a new table, and if nothing changed. */
  changeId: number | null
  /** Set if rows could change existing records, and for a preview. */
  update?: UpdateResult
  /** Linked records that were created by name, or would be; absent from jobs of earlier versions. */
  created?: { tableId: string; table: string; count: number }[]
  /** For the records of lists: the links to the records that have them which were added, or would be. */
  links?: AddedLinks[]
  /** Set if an import into a connected database ended before its last row; what it has written stays. */
  stopped?: StoppedImport
}

/** Links that an import of a list has added, or would add. */
export interface AddedLinks {
  /** Titles of the field and of the linked table. */
  field: string
  related: string
  count: number
}

/** The rows that an import has not got to. */
export interface StoppedImport {
  /** Number of the first of them in the file, from 1, with the header; null if there is none. */
  row: number | null
  rows: number
  /** Null if someone has cancelled it. */
  reason: string | null
}

/** What an import did to existing records, or would do. */
export interface UpdateResult {
  isPreview: boolean
  added: number
  changed: number
  /** Rows whose record has all their values already. */
  unchanged: number
  /** Rows of new records if only existing ones are updated, and of existing ones if records are only added. */
  skipped: number
  /** Refused rows with an empty key, with the key of an earlier row, and whose key several records have. */
  withoutKey: number
  repeated: number
  ambiguous: number
  /** Refused rows that name the number of a record that does not exist. */
  unknown: number
  /** The first changes. */
  changes: UpdatedRecord[]
}

/** Cells that an import changes in an existing record. */
export interface UpdatedRecord {
  /** Number of the record in the file, from 1, with the header. */
  row: number
  /** The values of the key fields. */
  key: string
  /** Texts; `before` is null for a link. */
  cells: { field: string; before: string | null; after: string }[]
}
