import { writeAttachments } from '../../../src/core/fields/attachment-item.ts'
import { typeByName } from '../../../src/core/fields/attachment-kinds.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'

/** A file that was chosen and has not been sent. */
export interface LocalFile {
  key: string
  file: File
}

/** Chosen files as the cell that they will be, for the rules: where they will lie the server says. */
export const pendingCell = (files: readonly LocalFile[]): CellValue =>
  writeAttachments(
    files.map(({ key, file }) => ({
      path: `download/pending/${key}`,
      title: file.name,
      mimetype: file.type || typeByName(file.name),
      size: file.size,
    })),
  )
