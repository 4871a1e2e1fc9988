import { createElement } from 'react'
import { lazyPart } from '../../navigation/lazy-screen.ts'
import { openDialog } from '../../ui/open-dialog.tsx'
import type { ExportSource } from './run-export.ts'

const ExportDialog = lazyPart(() => import('./export-dialog.tsx'), 'ExportDialog')

/** Asks how the records of a view are to be written to a file, and has that done. */
export function openExport(source: ExportSource): void {
  openDialog((close) => createElement(ExportDialog, { source, onClose: close }))
}
