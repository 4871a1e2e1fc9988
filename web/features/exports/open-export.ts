import { createElement } from 'react'
import { lazyPart } from '../../navigation/lazy-screen.ts'
import { openDialog } from '../../ui/open-dialog.tsx'
import type { ExportSource } from './run-export.ts'

const ExportDialog = lazyPart(() => import('./export-dialog.tsx'), 'ExportDialog')

/** Opens the export dialog for the records of a view. */
export function openExport(source: ExportSource): void {
  openDialog((close) => createElement(ExportDialog, { source, onClose: close }))
}
