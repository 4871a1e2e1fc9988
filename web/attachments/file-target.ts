import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { Field } from '../../src/core/model.ts'

/** The cell that files are added to: read and written where its record is kept, however long an upload takes. */
export interface FileTarget {
  /** Tells cells apart. */
  key: string
  field: Field
  /** What the cell holds, as far as it is known here. */
  current(): CellValue | undefined
  subscribe(onChange: () => void): () => void
  /** What the cell holds; asks the server where it is not known here. */
  latest(): Promise<CellValue>
  write(value: CellValue): void
  /** Tells the person why files that have arrived were not added. */
  refused(reason: string): void
}
