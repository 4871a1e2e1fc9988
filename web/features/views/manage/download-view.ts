import { createElement } from 'react'
import type { RecordId, TableSchema, View } from '../../../../src/core/model.ts'
import type { Search } from '../../../../src/core/query.ts'
import { lazyDialog } from '../../../ui/lazy-dialog.ts'
import { openDialog } from '../../../ui/open-dialog.tsx'
import type { ExportSource } from '../../exports/run-export.ts'
import { queryOfView } from '../../records/context/use-store-query.ts'
import { fieldsInOrder, shownFields } from '../state/arrange-fields.ts'

export interface DownloadPart {
  /** Only records that match this search. */
  search?: Search | null
  /** Only these records. */
  recordIds?: readonly RecordId[]
}

/** Opens the export dialog for the records of a view, with its fields, order and filter. */
export function downloadView({ fields }: TableSchema, view: View, part: DownloadPart = {}): void {
  openExport({
    tableId: view.tableId,
    title: view.title,
    fieldIds: shownFields(fields, view).map(({ field }) => field.id),
    allFieldIds: fieldsInOrder(fields, view).map(({ field }) => field.id),
    query: queryOfView(fields, view, part.search ?? null),
    ...(part.recordIds && { recordIds: part.recordIds }),
  })
}

const ExportDialog = lazyDialog(() => import('../../exports/export-dialog.tsx'), 'ExportDialog')

/** Opens the export dialog for the records of a view. */
function openExport(source: ExportSource): void {
  openDialog((close) => createElement(ExportDialog, { source, onClose: close }))
}
