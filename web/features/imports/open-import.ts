import { createElement } from 'react'
import { lazyPart } from '../../navigation/lazy-screen.ts'
import { openDialog } from '../../ui/open-dialog.tsx'
import type { ImportStart } from './import-dialog.tsx'

const ImportDialog = lazyPart(() => import('./import-dialog.tsx'), 'ImportDialog')

/** Initial target of an import: a new table of the base, or the table `tableId`. */
export interface ImportPlace {
  baseId: string
  tableId?: string
}

/**
 * Opens the import: of files that were dropped or chosen, of pasted text, or of what an address gives;
 * null lets the person choose.
 */
export function openImport(source: ImportStart, place: ImportPlace): void {
  openDialog((close) => createElement(ImportDialog, { start: source, ...place, onClose: close }))
}
