import type { AttachmentItem } from '../../src/core/fields/attachment-item.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { Field } from '../../src/core/model.ts'

/** Computes the files of a cell from those that it holds. Must have the same result if it is applied twice. */
export type FilesChange = (items: AttachmentItem[]) => AttachmentItem[]

/** The target cell of an upload, read and written in the record store, so that it outlives the component. */
export interface FileTarget {
  /** Identifies the cell. */
  key: string
  field: Field
  /** The cell's value, if its record is loaded. */
  current(): CellValue | undefined
  subscribe(onChange: () => void): () => void
  /** The cell's value, read from the server if its record is not loaded. */
  latest(): Promise<CellValue>
  /** Called when files are chosen, long before they arrive: keeps a new record for them. */
  begin(): void
  /** Changes the files that the cell holds after all earlier changes. Tells the user why, if that fails. */
  edit(change: FilesChange): void
}
