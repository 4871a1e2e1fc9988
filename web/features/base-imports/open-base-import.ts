import { createElement } from 'react'
import { lazyDialog } from '../../ui/lazy-dialog.ts'
import { openDialog } from '../../ui/open-dialog.tsx'

const BaseImportDialog = lazyDialog(() => import('./base-import-dialog.tsx'), 'BaseImportDialog')

/** Opens the import of a base from another product: as further tables of the given base, or as a new one (null). */
export function openBaseImport(baseId: string | null): void {
  openDialog((close) => createElement(BaseImportDialog, { baseId, onClose: close }))
}
